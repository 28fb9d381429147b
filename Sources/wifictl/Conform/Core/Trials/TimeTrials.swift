import FrameCodec
import SocketCore

/// What takes many seconds, all of it at the same time; and what needs a reboot.
extension ConformTrial {
    static let time = [waiting]

    /// Connection 0 says nothing at all, 1 nothing after its hello, 2 asks and gives no receipt, 3 sends heartbeats.
    private static let waiting = ConformTrial(
        rules: [
            ConformRule.helloTimeout, ConformRule.heartbeat, ConformRule.deadPeer, ConformRule.resend, ConformRule.alive,
        ], obstacle: needsHello
    ) { subject, bytes in
        // One rule alone takes no longer than the router takes to show it.
        switch subject.wanted.intersection([.helloTimeout, .heartbeat, .deadPeer, .resend, .alive]) {
        case [.helloTimeout]: return [.open(0), .listen([0], .ended, atMost: patience)]
        case [.deadPeer]: return opened(subject, bytes.hello(bytes.session()), 1) + [.listen([1], .ended, atMost: patience)]
        case [.resend]:
            return opened(subject, bytes.hello(bytes.session()), 2)
                + [.send(2, bytes.frame(1, capabilitiesRequest)), .listen([2], .messages(2), atMost: .seconds(11))]
        default: break
        }
        var steps: [ConformStep] = [.open(0)]
        for line in 1...3 { steps += opened(subject, bytes.hello(bytes.session()), line) }
        steps.append(.send(2, bytes.frame(1, capabilitiesRequest)))
        for _ in 0..<4 { steps += [.listen([0, 1, 2, 3], .time, atMost: .seconds(11)), .send(3, bytes.frame(0))] }
        return steps + [.listen([3], .time, atMost: subject.silence)]
    } judge: { transcript, subject in
        let layout = subject.layout
        let (mute, silent, asking, beating) = (transcript.line(0), transcript.line(1), transcript.line(2), transcript.line(3))
        return [
            closing(mute, since: mute.opened, .seconds(4)...(.seconds(8)), "without a hello"),
            heartbeat([silent, beating], layout), closing(silent, since: silent.sent.last, .seconds(28)...(.seconds(36)), "without a byte"),
            resending(asking, subject),
            beating.ended.map { .fail("closed after \(($0 - (beating.opened ?? $0)).briefText) although heartbeats came") } ?? .pass(),
        ]
    }

    /// As long as all rules about time together.
    private static let patience = Duration.seconds(44)

    private static func closing(
        _ line: ConformLine, since start: Instant?, _ due: ClosedRange<Duration>, _ what: String
    ) -> ConformFinding {
        guard let start else { return .skipped("no connection") }
        guard let ended = line.ended else { return .fail("still open after 44 s \(what)") }
        let span = ended - start
        return due.contains(span) ? .pass("after \(span.briefText)") : .fail("closed after \(span.briefText) \(what)")
    }

    private static func heartbeat(_ lines: [ConformLine], _ layout: FrameLayout) -> ConformFinding {
        var shortest: Duration?
        for line in lines {
            let frames = line.frames(layout).frames
            guard let beat = frames.firstIndex(where: \.isHeartbeat), beat > 0 else { return .fail("no heartbeat came") }
            let span = frames[beat].at - frames[beat - 1].at
            guard span <= .seconds(18) else { return .fail("the first came after \(span.briefText)") }
            shortest = min(shortest ?? span, span)
        }
        return .pass(shortest.map { "after \($0.briefText)" })
    }

    private static func resending(_ line: ConformLine, _ subject: ConformSubject) -> ConformFinding {
        guard subject.vocabulary != nil else {
            return .skipped("seen only with the sample vocabulary (section 7), which it doesn't speak")
        }
        let messages = line.messages(subject.layout)
        guard let first = messages.first else { return .skipped("no answer came") }
        guard let second = messages.dropFirst().first(where: { $0.frame.msgId == first.frame.msgId }) else {
            return .fail("its message without receipt isn't sent again")
        }
        let span = second.at - first.at
        if second.frame != first.frame { return .fail("the copy has other bytes") }
        return (.milliseconds(4_900)...(.milliseconds(9_000))).contains(span)
            ? .pass("after \(span.briefText)") : .fail("the copy came after \(span.briefText)")
    }

    static let reboot = [rebooting]

    private static let rebooting = ConformTrial(rules: [ConformRule.reboot], obstacle: needsVocabulary) { subject, bytes in
        let session = bytes.session()
        // A small device is back within a minute.
        return opened(subject, bytes.hello(session)) + [
            .send(0, bytes.frame(1, "{\"op\":\"reboot\"}")), .listen([0], .ended, atMost: subject.patience), .close(0), .pause(.seconds(2)),
            .reopen(1, bytes.hello(session, resume: true), atMost: .seconds(60)),
        ]
    } judge: { transcript, subject in
        let boot = transcript.line(0).hello(subject.layout)?["boot"]
        guard let hello = transcript.line(1).hello(subject.layout) else { return [.fail("it isn't back after a minute")] }
        if hello["boot"] == boot { return [.fail("boot is the same as before the reboot")] }
        return [hello["resumed"]?.boolValue == true ? .fail("the session is called resumed") : .pass()]
    }
}
