import FrameCodec
import SocketCore

/// A finding as files: one for the engineer, one for `--replay`.
struct TargetReport {
    let finding: TargetFinding
    let target: String
    let layout: FrameLayout
    /// The device's largest body.
    let limit: Int

    /// The files' name without an ending.
    var name: String { "device-\(finding.fault.rawValue)-\(finding.seed)-\(finding.index)" }

    /// What `--replay` reads: one JSON line.
    var fileContent: [UInt8] {
        JSONValue.object([JSONValue.Member("type", "finding")] + members(file: nil)).encoded() + [UInt8(ascii: "\n")]
    }

    /// The members of the `finding` line. `input` is what the last case sent.
    func members(file: String?) -> [JSONValue.Member] {
        let input = finding.sequence.last?.writes.flatMap(\.self) ?? []
        var members: [JSONValue.Member] = [
            .init("kind", .string(finding.fault.rawValue)), .init("seed", .whole(finding.seed)), .init("run", .whole(finding.index)),
            .init("target", .string(target)), .init("layout", .string("\(layout)")), .init("detail", .string(finding.detail)),
            .init("reproduced", .bool(finding.isReproduced)), .init("cases", .array(finding.sequence.map(\.json))),
            .init("input", .hex(input)),
        ]
        if let file { members.append(.init("file", .string(file))) }
        return members
    }

    /// The report: what happened, what was sent, how to do it again.
    func text(replayFile: String) -> String {
        let count = finding.sequence.count
        var lines = [
            "# \(finding.fault.rawValue): \(target)", "", finding.fault.meaning, "",
            "What happened: \(finding.detail)",
            "Noticed after case \(finding.index) of seed \(finding.seed), layout \(layout).",
        ]
        if finding.isReproduced {
            lines.append("The \(count == 1 ? "one case" : "\(count) cases in this order") below brought it about again.")
        } else if finding.isDown {
            lines.append("The device did not come back, so nothing could be tried again; the last cases before it are below, newest last.")
        } else {
            lines.append("Doing the cases again did not bring it about; it may need more of them, or time.")
        }
        lines += ["", "Do it again: wifictl fuzz --target \(target) --replay \(replayFile)", ""]
        for (number, targetCase) in finding.sequence.enumerated() {
            lines += ["## Case \(number + 1) of \(count): \(targetCase.kind)", ""] + steps(targetCase) + [""]
        }
        return lines.joined(separator: "\n")
    }

    private func steps(_ targetCase: TargetCase) -> [String] {
        var lines = [targetCase.opening == .hello ? "connect, send a hello, wait for its answer" : "connect, send no hello"]
        if targetCase.companions > 0 { lines.append("and \(targetCase.companions) more connections that send the same") }
        for (number, bytes) in targetCase.writes.enumerated() {
            if number == 12 {
                lines.append(
                    "... \(targetCase.writes.count - 12) more writes, \(targetCase.byteCount) bytes in all: see the file for --replay")
                break
            }
            lines.append("write \(number + 1): \(bytes.count) bytes")
            lines += dump(bytes)
        }
        if targetCase.writes.count > 1 { lines += ["taken together:"] }
        lines += notes(targetCase.writes.flatMap(\.self))
        lines.append("then \(closing(targetCase.closing)); due: \(due(targetCase.expectation))")
        return lines.map { "    " + $0 }
    }

    private func dump(_ bytes: [UInt8]) -> [String] {
        let most = 256
        var lines = stride(from: 0, to: min(bytes.count, most), by: 16).map { start in
            let row = bytes[start..<min(bytes.count, start + 16)]
            let hex = row.map { Hex.text([$0]) }.joined(separator: " ")
            let plain = String(decoding: row.map { (0x20...0x7E).contains($0) ? $0 : UInt8(ascii: ".") }, as: UTF8.self)
            let offset = String(start, radix: 16)
            return String(repeating: "0", count: max(0, 4 - offset.count)) + offset + "  "
                + hex + String(repeating: " ", count: 49 - hex.count) + plain
        }
        if bytes.count > most { lines.append("... \(bytes.count - most) more bytes") }
        return lines
    }

    /// What a right decoder makes of the bytes.
    private func notes(_ bytes: [UInt8]) -> [String] {
        let answer = ReferenceDecoder(layout: layout, limit: limit).answer(to: bytes, ended: true)
        var offset = 0
        var lines: [String] = []
        for frame in answer.frames.prefix(16) {
            lines.append("at \(offset): msgId \(frame.msgId), version \(frame.version), length \(frame.body.count)\(meaning(frame))")
            offset += FrameHeader.byteCount + frame.body.count
        }
        if answer.frames.count > 16 { lines.append("... \(answer.frames.count - 16) more frames") }
        guard bytes.count > answer.frameOffset else { return lines }
        let rest = bytes[answer.frameOffset...].prefix(FrameHeader.byteCount)
        lines.append("at \(answer.frameOffset): \(Hex.text(rest)) = \(answer.error.map { "\($0)" } ?? "unfinished")")
        return lines
    }

    private func meaning(_ frame: Frame) -> String {
        switch (frame.msgId, frame.body.isEmpty) {
        case (0, true): " (heartbeat)"
        case (0, false): " (message without receipt)"
        case (_, true): " (receipt)"
        default: " (message)"
        }
    }

    private func closing(_ closing: TargetCase.Closing) -> String {
        switch closing {
        case .close: "close"
        case .halfClose: "close for writing, read on, close"
        case .reset: "reset the connection"
        }
    }

    private func due(_ expectation: TargetCase.Expectation) -> String {
        switch expectation {
        case .survive: "the device stays alive"
        case .receipts(let ids): "receipts for \(ids.map(String.init).joined(separator: ", "))"
        case .rejection(let id): "the connection ends; no receipt for \(id)"
        }
    }
}
