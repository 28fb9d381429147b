import FrameCodec
import SocketCore

/// What a session keeps over its connections.
extension ConformTrial {
    static let resuming = [resumed, resent, covered, replacement]

    private static let resumed = ConformTrial(
        rules: [ConformRule.sessionNew, ConformRule.resume, ConformRule.resumeDuplicate], obstacle: needsHello
    ) { subject, bytes in
        let session = bytes.session()
        let request = bytes.frame(2, capabilitiesRequest)
        return opened(subject, bytes.hello(session)) + [
            .send(0, bytes.frame(1, "conform") + request + bytes.frame(3, "conform")),
            .listen([0], .receipts([1, 2, 3]), atMost: subject.patience), .listen([0], .messages(1), atMost: subject.silence),
            .receiptAll(0), .pause(.milliseconds(50)), .close(0), .pause(.milliseconds(100)),
        ] + opened(subject, bytes.hello(session, resume: true, received: 1), 1) + [
            .send(1, request), .send(1, bytes.frame(4, "conform")), .listen([1], .receipts([2, 4]), atMost: subject.patience),
            .listen([1], .time, atMost: subject.silence),
        ]
    } judge: { transcript, subject in
        let (first, second) = (transcript.line(0), transcript.line(1))
        guard let fresh = first.hello(subject.layout), let again = second.hello(subject.layout) else {
            return [.fail("no hello came back"), .fail("no hello came back after a reconnect"), .skipped("the session was not resumed")]
        }
        let isFresh = fresh["resumed"]?.boolValue == false && fresh["received"]?.integerValue == 0
        let received = again["received"]?.integerValue ?? -1
        let receipts = second.receipts(subject.layout)
        let answersAgain = second.messages(subject.layout).filter { $0.json?["re"]?.integerValue == 2 }
        let resume: ConformFinding =
            again["resumed"]?.boolValue != true
            ? .fail("resumed isn't true") : received == 3 ? .pass() : .fail("received is \(received), 1 to 3 had been received")
        let duplicate: ConformFinding =
            !receipts.contains(2)
            ? .fail("a message repeated after a reconnect gets no receipt")
            : answersAgain.isEmpty ? .pass() : .fail("a message repeated after a reconnect is delivered again")
        return [isFresh ? .pass() : .fail("received or resumed isn't that of a new session"), resume, duplicate]
    }

    /// Three answers without receipts; then the same session again.
    private static let resent = ConformTrial(rules: [ConformRule.resumeResend], obstacle: needsVocabulary) { subject, bytes in
        let session = bytes.session()
        return opened(subject, bytes.hello(session)) + [
            .send(0, (1...3).flatMap { bytes.frame($0, capabilitiesRequest) }), .listen([0], .messages(3), atMost: subject.patience),
            .close(0), .pause(.milliseconds(100)),
        ] + opened(subject, bytes.hello(session, resume: true), 1) + [
            .send(1, bytes.frame(4, capabilitiesRequest)), .listen([1], .messages(4), atMost: subject.patience), .receiptAll(1),
        ]
    } judge: { transcript, subject in
        let before = transcript.line(0).messages(subject.layout).map(\.frame)
        let after = transcript.line(1).messages(subject.layout).map(\.frame)
        if before.count < 3 { return [.skipped("only \(before.count) of 3 answers came")] }
        if after.count < 4 { return [.fail("after the reconnect came \(after.count) messages, three old ones and a new one were due")] }
        if after.prefix(3).map(\.msgId) != before.map(\.msgId) {
            return [.fail("ids \(before.map(\.msgId)) were unsettled, \(after.map(\.msgId)) came after the reconnect")]
        }
        return [Array(after.prefix(3)) == before ? .pass() : .fail("the same ids came with other bytes")]
    }

    /// The same, but this time `received` says that two of the three have arrived.
    private static let covered = ConformTrial(rules: [ConformRule.resumeReceived], obstacle: needsVocabulary) { subject, bytes in
        let session = bytes.session()
        return opened(subject, bytes.hello(session)) + [
            .send(0, (1...3).flatMap { bytes.frame($0, capabilitiesRequest) }), .listen([0], .messages(3), atMost: subject.patience),
            .close(0), .pause(.milliseconds(100)),
        ] + opened(subject, bytes.hello(session, resume: true, received: 2), 1) + [
            .listen([1], .messages(1), atMost: subject.silence), .listen([1], .time, atMost: .milliseconds(200)), .receiptAll(1),
        ]
    } judge: { transcript, subject in
        let before = transcript.line(0).messages(subject.layout).count
        let after = transcript.line(1).messages(subject.layout).map(\.frame.msgId)
        if before < 3 { return [.skipped("only \(before) of 3 answers came")] }
        let undue = after.filter { $0 <= 2 }
        return [undue.isEmpty ? .pass() : .fail("messages \(undue) came again although received was 2")]
    }

    private static let replacement = ConformTrial(rules: [ConformRule.replaced], obstacle: needsHello) { subject, bytes in
        let session = bytes.session()
        return opened(subject, bytes.hello(session)) + opened(subject, bytes.hello(session, resume: true), 1)
            + [
                .listen([0], .ended, atMost: subject.patience), .send(1, bytes.frame(1, "conform")),
                .listen([1], .receipts([1]), atMost: subject.patience),
            ]
    } judge: { transcript, subject in
        if !transcript.line(1).receipts(subject.layout).contains(1) { return [.fail("the second connection isn't served")] }
        return [transcript.line(0).ended == nil ? .fail("the first connection stays open") : .pass()]
    }
}
