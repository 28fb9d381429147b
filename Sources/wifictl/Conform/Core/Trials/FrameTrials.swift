import FrameCodec
import SocketCore

/// The frame rules, seen by which messages get receipts and when the connection ends.
extension ConformTrial {
    static let frames = [cuts, badVersion, badLength, atTheLimit, cutOff, claims]

    private static let cutMessages: UInt32 = 24

    /// Three messages byte by byte, then the rest in two writes with a cut in the middle of a header.
    private static let cuts = ConformTrial(rules: [ConformRule.frameCuts], obstacle: needsHello) { subject, bytes in
        var steps = opened(subject, bytes.hello(bytes.session()))
        for id in UInt32(1)...3 {
            for byte in bytes.frame(id, "cut \(id)") { steps += [.send(0, [byte]), .pause(.milliseconds(2))] }
        }
        let rest = (4...cutMessages).flatMap { bytes.frame($0, "sticky \($0)") }
        let cut = rest.count - 14
        steps += [.send(0, Array(rest[..<cut])), .pause(.milliseconds(30)), .send(0, Array(rest[cut...]))]
        return steps + [.listen([0], .receipts(Set(1...cutMessages)), atMost: subject.patience)]
    } judge: { transcript, subject in
        let missing = Set(1...cutMessages).subtracting(transcript.line(0).receipts(subject.layout)).sorted()
        return [
            missing.isEmpty
                ? .pass()
                : .fail("no receipt for \(missing.count) of \(cutMessages) messages, the first is \(missing[0]) (1 to 3 came byte by byte)")
        ]
    }

    private static let badVersion = ConformTrial(
        rules: [ConformRule.frameVersion, ConformRule.frameNothingAfter], obstacle: needsHello
    ) { subject, bytes in
        var steps: [ConformStep] = []
        for (index, version) in [UInt16(0), 60_002].enumerated() {
            let bad = bytes.frame(2, "bad", version: version)
            steps += opened(subject, bytes.hello(bytes.session()), index)
            steps.append(.send(index, bytes.frame(1, "good") + bad + bytes.frame(3, "behind the bad one")))
        }
        steps.append(.listen([0, 1], .ended, atMost: subject.patience))
        return steps
    } judge: { transcript, subject in
        let lines = [transcript.line(0), transcript.line(1)]
        let open = zip([0, 60_002], lines).filter { $0.1.ended == nil || $0.1.receipts(subject.layout).contains(2) }
        let after = lines.contains { $0.receipts(subject.layout).contains(3) }
        return [
            .complaint(open.isEmpty ? nil : "it goes on after version \(open.map { "\($0.0)" }.joined(separator: " and after version "))"),
            after ? .fail("a message behind the bad header got a receipt") : .pass(),
        ]
    }

    /// Exactly ten bytes: who waits for a body doesn't close.
    private static let badLength = ConformTrial(rules: [ConformRule.frameLength], obstacle: needsHello) { subject, bytes in
        var headers = [0xFFFF_FFFF, 0x8000_0000, subject.limit + 1].map { bytes.header(1, declares: $0) }
        if subject.layout == .asciiLength { headers = [Array(bytes.header(1, declares: 0).prefix(6)) + Array("+016".utf8)] }
        var steps: [ConformStep] = []
        for (index, header) in headers.enumerated() {
            steps += opened(subject, bytes.hello(bytes.session()), index)
            steps.append(.send(index, header))
        }
        steps.append(.listen(Array(headers.indices), .ended, atMost: subject.patience))
        return steps
    } judge: { transcript, subject in
        let names =
            subject.layout == .asciiLength ? ["\"+016\""] : ["4294967295", "2147483648", "\(subject.limit + 1), one over the limit"]
        let open = names.indices.filter { transcript.line($0).ended == nil }.map { names[$0] }
        return [.complaint(open.isEmpty ? nil : "it doesn't close after the length \(open.joined(separator: "; nor after "))")]
    }

    private static let atTheLimit = ConformTrial(rules: [ConformRule.frameLimit], obstacle: needsHello) { subject, bytes in
        let body = [UInt8](repeating: 0x2E, count: subject.largestBody)
        return opened(subject, bytes.hello(bytes.session()))
            + [.send(0, bytes.frame(1, body)), .listen([0], .receipts([1]), atMost: subject.patience.scaled(by: 4))]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        if line.receipts(subject.layout) == [1] { return [.pass("\(subject.largestBody) bytes")] }
        return [.fail("no receipt for a body of \(subject.largestBody) bytes\(line.ending.map { ": \($0)" } ?? "") (see --limit)")]
    }

    private static let cutOff = ConformTrial(rules: [ConformRule.frameEnd], obstacle: needsHello) { subject, bytes in
        opened(subject, bytes.hello(bytes.session())) + [
            .send(0, bytes.frame(1, "whole") + Array(bytes.frame(2, "cut off in its body").dropLast(3))), .finishWriting(0),
            .listen([0], .ended, atMost: subject.patience),
        ]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        if line.receipts(subject.layout).contains(2) { return [.fail("the unfinished message got a receipt")] }
        return [line.ended == nil ? .fail("it doesn't close after the end of the stream") : .pass()]
    }

    private static let claimants = 24

    /// Many connections that declare the largest body and send none of it; then somebody else.
    private static let claims = ConformTrial(rules: [ConformRule.frameClaims], obstacle: needsHello) { subject, bytes in
        var steps: [ConformStep] = []
        for index in 1...claimants { steps += [.open(index), .send(index, bytes.hello(bytes.session()))] }
        steps.append(.listen(Array(1...claimants), .time, atMost: .milliseconds(300)))
        for index in 1...claimants { steps.append(.send(index, bytes.header(1, declares: subject.largestBody))) }
        steps += opened(subject, bytes.hello(bytes.session()))
        return steps + [.send(0, bytes.frame(1, "conform")), .listen([0], .receipts([1]), atMost: subject.patience)]
    } judge: { transcript, subject in
        if transcript.line(0).receipts(subject.layout) != [1] {
            return [.fail("beside \(claimants) connections that declare \(subject.largestBody) bytes each, nobody else is served")]
        }
        return [.pass()]
    }
}
