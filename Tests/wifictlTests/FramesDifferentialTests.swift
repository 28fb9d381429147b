import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// `wifictl frames` against the independent peer: the same frames and the same error, whatever comes in.
struct FramesDifferentialTests {
    /// Runs the peer's cutter over case after case within one process: one JSON line in, one array of lines out.
    private static let driver = """
        import json, sys
        sys.path.insert(0, sys.argv[1])
        from wifipeer import Cutter, FrameFault
        for line in sys.stdin:
            case = json.loads(line)
            cutter = Cutter(case["layout"], case["limit"], {case["version"]} if case["version"] else None)
            data, out = bytes.fromhex(case["bytes"]), []
            try:
                for start in range(0, len(data), case["chunk"]):
                    for msg_id, version, body in cutter.feed(data[start:start + case["chunk"]]):
                        out.append({"msgId": msg_id, "version": version, "len": len(body), "body": body.hex()})
                cutter.finish()
            except FrameFault as fault:
                out.append({"error": fault.kind, **fault.more})
            print(json.dumps(out), flush=True)
        """

    @Test(.enabled(if: IndependentPeer.path != nil, IndependentPeer.remark))
    func `two thousand seeded streams are cut as the independent peer cuts them`() async throws {
        let peer = try #require(IndependentPeer.path)
        let seed: UInt64 = 0x5EED_F4A3
        var dice = SeededGenerator(seed: seed)
        let cases = (0..<2_000).map { _ in StreamCase(&dice) }
        let input = cases.map { one in
            let value: JSONValue = [
                "layout": .string(StreamCase.name(of: one.layout)), "limit": .whole(one.limit), "version": .whole(one.version ?? 0),
                "chunk": .whole(one.chunk), "bytes": .hex(one.bytes),
            ]
            return value.text + "\n"
        }.joined()
        let scratch = try TemporaryDirectory()
        let file = try scratch.write(Array(input.utf8), as: "cases.jsonl")
        let folder = URL(fileURLWithPath: peer).deletingLastPathComponent().path
        let answer = try await runCommand(
            ["sh", "-c", "exec python3 -B -c \"$0\" \"$1\" < \"$2\"", Self.driver, folder, file], mustSucceed: true)
        let answers = answer.lines
        try #require(answers.count == cases.count)
        var errors: Set<String> = []
        for (index, one) in cases.enumerated() {
            let theirs = try JSONValue.parse(Array(answers[index].utf8)).arrayValue ?? []
            let ours = Self.cut(one)
            #expect(ours == theirs, "seed \(seed), case \(index): \(one)")
            if let name = theirs.last?["error"]?.stringValue { errors.insert(name) }
        }
        #expect(errors == ["unsupportedVersion", "malformedLength", "bodyTooLarge", "truncated"], "the cases must reach every error")
    }

    @Test(.enabled(if: IndependentPeer.path != nil, IndependentPeer.remark))
    func `the tool prints what the independent peer prints and ends with its status`() async throws {
        let peer = try #require(IndependentPeer.path)
        let seed: UInt64 = 0x5EED_F4A4
        var dice = SeededGenerator(seed: seed)
        let scratch = try TemporaryDirectory()
        for index in 0..<16 {
            let one = StreamCase(&dice)
            let file = try scratch.write(one.bytes, as: "stream")
            let command = ["sh", "-c", "file=$0; exec \"$@\" < \"$file\"", file]
            let theirs = try await runCommand(command + ["python3", "-B", peer, "frames"] + one.options)
            let ours = try await runCommand(command + [BuiltTool.path, "frames", "--json"] + one.options)
            let comparable = try ours.lines.map { try JSONValue.parse(Array($0.utf8)).without(["type", "offset"]) }
            let expected = try theirs.lines.map { try JSONValue.parse(Array($0.utf8)) }
            #expect(comparable == expected, "seed \(seed), case \(index): \(one)")
            // The peer calls an input that holds nothing a success.
            let status = theirs.status == 0 && expected.isEmpty ? 1 : theirs.status
            #expect(ours.status == status, "seed \(seed), case \(index): \(one)")
        }
    }

    /// The case's frames and error in the peer's words.
    private static func cut(_ one: StreamCase) -> [JSONValue] {
        var cutter = FrameCutter(layout: one.layout, limits: FrameOptions.limits(size: one.limit, version: one.version))
        var lines: [JSONValue] = []
        do throws(FrameError) {
            for start in stride(from: 0, to: one.bytes.count, by: one.chunk) {
                let part = one.bytes.span.bytes.extracting(start..<min(start + one.chunk, one.bytes.count))
                try cutter.feed(part) { offset, header, body in
                    lines.append(.object(FramePrinter.members(at: offset, header, body)).without(["offset"]))
                }
            }
            try cutter.finish()
        } catch {
            lines.append(.object(FrameErrorReport(offset: cutter.offset, error: error).members).without(["offset"]))
        }
        return lines
    }
}

extension JSONValue {
    fileprivate func without(_ names: Set<String>) -> JSONValue {
        .object((objectValue ?? []).filter { !names.contains($0.name) })
    }
}
