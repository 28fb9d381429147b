import FrameCodec
import SocketCore

/// Receipts, repeated messages, and the router's own messages.
extension ConformTrial {
    static let receipts = [receipt, undue, repeated, manyIds, ownIds, window]

    private static let receipt = ConformTrial(rules: [ConformRule.receipt, ConformRule.receiptPrompt], obstacle: needsHello) {
        subject, bytes in
        opened(subject, bytes.hello(bytes.session()))
            + (1...5).flatMap { id -> [ConformStep] in
                [.send(0, bytes.frame(id, "conform \(id)")), .listen([0], .receipts([id]), atMost: subject.patience)]
            }
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let receipts = line.afterHello(subject.layout).filter(\.isReceipt)
        let ids = receipts.map(\.frame.msgId)
        if ids != [1, 2, 3, 4, 5] {
            return [.fail("messages 1 to 5 got receipts for \(ids.isEmpty ? "none" : "\(ids)")"), .skipped("no receipt to measure")]
        }
        // The first write was the hello. The best of five: the network and this machine are slow now and then.
        let best = zip(line.sent.dropFirst(), receipts).map { $0.1.at - $0.0 }.min() ?? .zero
        let allowed = Duration.milliseconds(100) + max(subject.roundTrip ?? .zero, .milliseconds(20))
        return [.pass(), best <= allowed ? .pass("\(best.briefText), the best of 5") : .fail("\(best.briefText), the best of 5")]
    }

    private static let undue = ConformTrial(rules: [ConformRule.receiptNone, ConformRule.receiptUnknown], obstacle: needsHello) {
        subject, bytes in
        opened(subject, bytes.hello(bytes.session())) + [
            .send(0, bytes.frame(0, "without an id") + bytes.frame(0)), .send(0, bytes.frame(77) + bytes.frame(0xFFFF_FFFF)),
            .send(0, bytes.frame(1, "conform")), .listen([0], .receipts([1]), atMost: subject.patience),
            .listen([0], .time, atMost: subject.silence),
        ]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let frames = line.afterHello(subject.layout)
        let undue = frames.filter { $0.isReceipt && $0.frame.msgId != 1 || $0.isHeartbeat }
        let isServed = line.receipts(subject.layout).contains(1)
        return [
            .complaint(undue.first.map { "a frame without body and with id \($0.frame.msgId) came" }),
            isServed && line.ended == nil ? .pass() : .fail("after a receipt for an unknown id the connection serves nobody"),
        ]
    }

    private static let repeated = ConformTrial(
        rules: [ConformRule.duplicateReceipt, ConformRule.duplicateDelivery], obstacle: needsHello
    ) { subject, bytes in
        let message = bytes.frame(1, capabilitiesRequest)
        return opened(subject, bytes.hello(bytes.session())) + [
            .send(0, message), .listen([0], .receipts([1]), atMost: subject.patience), .send(0, message),
            .listen([0], .time, atMost: subject.silence), .receiptAll(0), .send(0, message),
            .send(0, bytes.frame(2, "conform")), .listen([0], .receipts([2]), atMost: subject.patience),
            .listen([0], .time, atMost: subject.silence),
        ]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let receipts = line.receipts(subject.layout).count { $0 == 1 }
        return [
            receipts == 3 ? .pass() : .fail("\(receipts) receipts for a message that was sent three times"),
            deliveries(of: 1, line, subject),
        ]
    }

    /// How often a request was delivered shows in its answers; each answer has an id of its own.
    static func deliveries(of id: Int64, _ line: ConformLine, _ subject: ConformSubject) -> ConformFinding {
        guard subject.vocabulary != nil else {
            return .skipped("seen only with the sample vocabulary (section 7), which it doesn't speak")
        }
        let answers = Set(line.messages(subject.layout).filter { $0.json?["re"]?.integerValue == id }.map(\.frame.msgId))
        return answers.count <= 1 ? .pass() : .fail("it was delivered \(answers.count) times, as \(answers.count) answers show")
    }

    /// As many messages as must be remembered, never more than 32 under way, then the first again.
    private static let manyIds = ConformTrial(rules: [ConformRule.duplicateMemory], obstacle: needsVocabulary) { subject, bytes in
        var steps = opened(subject, bytes.hello(bytes.session()))
        let first = bytes.frame(1, capabilitiesRequest)
        steps += [.send(0, first), .listen([0], .messages(1), atMost: subject.patience), .receiptAll(0)]
        for start in stride(from: UInt32(2), through: 1_024, by: 31) {
            let ids = start...min(start + 30, 1_024)
            steps.append(.send(0, ids.flatMap { bytes.frame($0, "fill") }))
            steps.append(.listen([0], .receipts(Set(ids)), atMost: subject.patience))
        }
        return steps + [.send(0, first), .listen([0], .messages(2), atMost: subject.silence), .receiptAll(0)]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let missing = Set(UInt32(1)...1_024).subtracting(line.receipts(subject.layout)).count
        return [missing > 0 ? .fail("\(missing) of 1,024 messages got no receipt") : deliveries(of: 1, line, subject)]
    }

    private static let ownIds = ConformTrial(rules: [ConformRule.messageIds], obstacle: needsVocabulary) { subject, bytes in
        opened(subject, bytes.hello(bytes.session()))
            + (1...4).flatMap { id -> [ConformStep] in
                [
                    .send(0, bytes.frame(id, capabilitiesRequest)),
                    .listen([0], .messages(Int(id)), atMost: subject.patience), .receiptAll(0),
                ]
            }
    } judge: { transcript, subject in
        let ids = transcript.line(0).messages(subject.layout).map(\.frame.msgId)
        return [ids == Array(1...4) ? .pass() : .fail("its first messages have the ids \(ids)")]
    }

    private static let requests: UInt32 = 40

    /// Forty questions, whose answers get no receipts at first.
    private static let window = ConformTrial(rules: [ConformRule.window], obstacle: needsVocabulary) { subject, bytes in
        var steps = opened(subject, bytes.hello(bytes.session()))
        steps.append(.send(0, (1...requests).flatMap { bytes.frame($0, capabilitiesRequest) }))
        steps += [
            .listen([0], .messages(33), atMost: subject.silence), .pause(.milliseconds(50)), .listen([0], .time, atMost: .milliseconds(50)),
        ]
        // Marks in the transcript where the receipts begin: the next write is theirs.
        steps.append(.receiptAll(0))
        return steps + [.listen([0], .messages(Int(requests)), atMost: subject.patience), .receiptAll(0)]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let messages = line.messages(subject.layout)
        // Writes: the hello, the questions, then receipts.
        let receiptsBegan = line.sent.count > 2 ? line.sent[2] : .distantFuture
        let early = Set(messages.filter { $0.at < receiptsBegan }.map(\.frame.msgId)).count
        let all = Set(messages.map(\.frame.msgId)).count
        if early > 32 { return [.fail("\(early) messages were under way without a receipt")] }
        return [all < requests ? .fail("after the receipts came \(all) of \(requests) answers in all") : .pass("\(early) at first")]
    }
}
