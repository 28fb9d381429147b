import FrameCodec
import SocketCore

/// Discovery by datagrams to the router's own address.
extension ConformTrial {
    static let discovery = [firstReply, shortProbe, twice, spread, ownBSSID, knownMAC, namedMAC, garbage, flood]

    /// More than a second, so that the ten replies that one source gets a second are there again.
    private static let breath = Duration.milliseconds(1_100)

    /// What a datagram says as a reply; nil when it's none.
    static func reply(_ bytes: [UInt8]) -> (msgId: UInt32, object: JSONValue)? {
        let answer = ReferenceDecoder(layout: .standard, limit: 1_472, versions: 1...1).answer(to: bytes, ended: true)
        guard answer.error == nil, answer.frames.count == 1, let object = (try? JSONValue.parse(answer.frames[0].body))?["reply"] else {
            return nil
        }
        return (answer.frames[0].msgId, object)
    }

    /// The subject's replies on a socket: others may run on the same machine.
    static func replies(
        _ transcript: ConformTranscript, _ socket: Int, _ subject: ConformSubject
    ) -> [(msgId: UInt32, object: JSONValue, size: Int, after: Duration)] {
        transcript.datagrams(socket).compactMap { datagram in
            guard let reply = reply(datagram.bytes), reply.object["mac"] == subject.reply?["mac"] else { return nil }
            return (reply.msgId, reply.object, datagram.bytes.count, datagram.after)
        }
    }

    static func keys(_ nonce: String, wait: Int = 0, _ more: [(String, JSONValue)] = []) -> [(String, JSONValue)] {
        [("nonce", .string(nonce)), ("maxWait", .whole(wait))] + more
    }

    /// Three times, as datagrams may be lost. Which of the replies is the subject's, its port says.
    private static let firstReply = ConformTrial(
        rules: [
            ConformRule.discoveryReply, ConformRule.discoveryEcho, ConformRule.discoverySource, ConformRule.discoverySize,
            ConformRule.discoveryRadios,
        ]
    ) { subject, bytes in
        (0..<3).flatMap { socket -> [ConformStep] in
            [
                .probe(socket, ConformBytes.probe(UInt32(socket) + 0x5EED_0001, keys("00000000c0ffee0\(socket)"))),
                .gather([socket], 1, atMost: subject.patience.scaled(by: 0.34)),
            ]
        }
    } judge: { transcript, subject in
        let found = (0..<3).flatMap { socket in
            transcript.datagrams(socket).compactMap { datagram in
                reply(datagram.bytes).map { (socket, datagram.bytes.count, datagram.source, $0.msgId, $0.object) }
            }
        }
        let subjectPort = Int64(subject.tcp)
        guard let (socket, size, _, msgId, object) = found.first(where: { $0.4["tcp"]?.integerValue == subjectPort }) else {
            guard let other = found.first else {
                return [.fail("no reply to three probes")] + Array(repeating: .skipped(subject.lacksReply), count: 4)
            }
            let port = other.4["tcp"]?.integerValue.map(String.init) ?? "none"
            subject.lacksReply = "the reply names TCP port \(port), not \(subject.tcp): it's taken for another router's"
            return [.fail("the reply names TCP port \(port), not \(subject.tcp)")]
                + Array(repeating: .skipped(subject.lacksReply), count: 4)
        }
        subject.reply = object
        let isEchoed = msgId == UInt32(socket) + 0x5EED_0001 && object["nonce"]?.stringValue == "00000000c0ffee0\(socket)"
        let strangers = transcript.events.compactMap { event -> String? in
            guard case .datagram(let bytes, let source) = event.what, reply(bytes)?.object["mac"] == object["mac"] else { return nil }
            return source == subject.discoveryEndpoint ? nil : "\(source)"
        }
        let radios = object["radios"]?.arrayValue ?? []
        let badRadios = radios.filter { !ConformFacts.isMAC($0["bssid"]?.stringValue) }
        return [
            .complaint(ConformFacts.complaint(aboutReply: object)),
            isEchoed ? .pass() : .fail("nonce \(object["nonce"]?.stringValue ?? "missing") and msgId \(msgId) are not the probe's"),
            .complaint(strangers.first.map { "it came from \($0)" }),
            size <= 1_200 ? .pass("\(size) bytes") : .fail("\(size) bytes"),
            radios.isEmpty
                ? .fail("no radios are listed: nobody can tell that they're connected to it")
                : .complaint(badRadios.isEmpty ? nil : "\(badRadios.count) of \(radios.count) radios have no valid bssid"),
        ]
    }

    private static let shortProbe = ConformTrial(rules: [ConformRule.discoveryAmplification], obstacle: needsReply) { subject, bytes in
        [.probe(0, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce()), least: 0)), .gather([0], 1, atMost: subject.silence)]
    } judge: { transcript, subject in
        let probe = transcript.events.compactMap { if case .probed(let bytes) = $0.what { bytes.count } else { nil } }.first ?? 0
        guard let reply = replies(transcript, 0, subject).first else { return [.pass("no reply to a probe of \(probe) bytes")] }
        return [reply.size <= 3 * probe ? .pass() : .fail("\(reply.size) bytes in reply to a probe of \(probe)")]
    }

    private static let twice = ConformTrial(rules: [ConformRule.discoveryOnce], obstacle: needsReply) { subject, bytes in
        let probe = ConformBytes.probe(bytes.probeId(), keys(bytes.nonce()))
        return [.pause(breath), .probe(0, probe), .probe(0, probe), .gather([0], 2, atMost: subject.silence)]
    } judge: { transcript, subject in
        switch replies(transcript, 0, subject).count {
        case 0: [.skipped("no reply came this time")]
        case 1: [.pass()]
        case let count: [.fail("\(count) replies to one probe")]
        }
    }

    /// Within how many milliseconds of each other so many replies that are drawn from ``spreadWait`` lie by chance once in 100,000 times.
    /// The longest wait there is, so that a busy machine, on which replies that left at once come some 100 ms apart, isn't taken for a spread.
    private static let tooClose: [Int: Duration] = [
        4: .milliseconds(25), 5: .milliseconds(75), 6: .milliseconds(140), 7: .milliseconds(210), 8: .milliseconds(280),
    ]
    private static let spreadWait = 2_000

    private static let spread = ConformTrial(rules: [ConformRule.discoverySpread], obstacle: needsReply) { subject, bytes in
        [.pause(breath)] + (0..<8).map { .probe($0, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce(), wait: spreadWait))) }
            + [.gather(Array(0..<8), 8, atMost: .milliseconds(spreadWait) + subject.patience)]
    } judge: { transcript, subject in
        let times = (0..<8).flatMap { replies(transcript, $0, subject).map(\.after) }.sorted()
        guard let first = times.first, let last = times.last, let limit = tooClose[min(times.count, 8)] else {
            return [.skipped("only \(times.count) of 8 replies came")]
        }
        if last > .milliseconds(spreadWait + 500) {
            return [.fail("a reply came after \(last.briefText) where maxWait was \(spreadWait) ms")]
        }
        return [
            last - first < limit
                ? .fail("all \(times.count) came within \((last - first).briefText) of each other where maxWait was \(spreadWait) ms")
                : .pass("\(first.briefText) to \(last.briefText)")
        ]
    }

    /// With 2,000 ms to choose from, all but one of eight come within 500 ms by chance once in 2,500 times.
    private static let ownBSSID = ConformTrial(
        rules: [ConformRule.discoveryBSSID], obstacle: { needsReply($0) ?? ($0.ownBSSID == nil ? "it names no radio" : nil) }
    ) { subject, bytes in
        let bssid = ("bssid", JSONValue.text(subject.ownBSSID))
        return [.pause(breath)]
            + (0..<8).map { .probe($0, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce(), wait: spreadWait, [bssid]))) }
            + [.gather(Array(0..<8), 8, atMost: .milliseconds(spreadWait) + subject.silence)]
    } judge: { transcript, subject in
        let times = (0..<8).flatMap { replies(transcript, $0, subject).map(\.after) }.sorted()
        guard times.count >= 6 else { return [.skipped("only \(times.count) of 8 replies came")] }
        let most = times[times.count - 2]
        return [most < .milliseconds(500) ? .pass() : .fail("replies took up to \(most.briefText)")]
    }

    private static let knownMAC = ConformTrial(rules: [ConformRule.discoveryKnown], obstacle: needsReply) { subject, bytes in
        let known = ("known", JSONValue.array(["02:00:5e:00:53:fe", .text(subject.mac)]))
        return asked(subject, &bytes, silentTo: known, answering: ("known", ["02:00:5e:00:53:fe"]))
    } judge: { transcript, subject in
        [silence(transcript, subject, "it replied although known lists it", "it is silent although known lists another alone")]
    }

    private static let namedMAC = ConformTrial(rules: [ConformRule.discoveryMAC], obstacle: needsReply) { subject, bytes in
        asked(subject, &bytes, silentTo: ("mac", "02:00:5e:00:53:fe"), answering: ("mac", .text(subject.mac)))
    } judge: { transcript, subject in
        [silence(transcript, subject, "it replied although mac names another", "it is silent although mac names it")]
    }

    /// A question that must stay unanswered beside one that must not, twice.
    private static func asked(
        _ subject: ConformSubject, _ bytes: inout ConformBytes, silentTo: (String, JSONValue), answering: (String, JSONValue)
    ) -> [ConformStep] {
        var steps: [ConformStep] = [.pause(breath)]
        for round in 0..<2 {
            steps.append(.probe(2 * round, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce(), [silentTo]))))
            steps.append(.probe(2 * round + 1, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce(), [answering]))))
        }
        return steps + [.gather([1, 3], 2, atMost: subject.patience), .gather([0, 2], 1, atMost: subject.silence)]
    }

    private static func silence(
        _ transcript: ConformTranscript, _ subject: ConformSubject, _ talkative: String, _ mute: String
    ) -> ConformFinding {
        if [0, 2].contains(where: { !replies(transcript, $0, subject).isEmpty }) { return .fail(talkative) }
        return [1, 3].contains { !replies(transcript, $0, subject).isEmpty } ? .pass() : .fail(mute)
    }

    private static let garbage = ConformTrial(rules: [ConformRule.discoveryGarbage], obstacle: needsReply) { subject, bytes in
        let invalid = ConformFacts.invalidProbes(&bytes)
        var steps: [ConformStep] = [.pause(breath)]
        for (index, datagram) in invalid.enumerated() { steps.append(.probe(index + 1, datagram)) }
        steps.append(.gather(Array(1...invalid.count), 1, atMost: subject.silence))
        for _ in 0..<2 {
            steps.append(.probe(0, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce()))))
            steps.append(.gather([0], 1, atMost: subject.patience.scaled(by: 0.5)))
        }
        return steps
    } judge: { transcript, subject in
        let answered = (1...ConformFacts.invalidKinds.count).filter { !replies(transcript, $0, subject).isEmpty }
        if let first = answered.first { return [.fail("it replied to a datagram that \(ConformFacts.invalidKinds[first - 1])")] }
        return [replies(transcript, 0, subject).isEmpty ? .fail("after invalid datagrams it replies to nobody") : .pass()]
    }

    private static let flood = ConformTrial(rules: [ConformRule.discoveryRate], obstacle: needsReply) { subject, bytes in
        [.pause(breath)] + (0..<40).map { .probe($0, ConformBytes.probe(bytes.probeId(), keys(bytes.nonce()))) }
            + [.gather(Array(0..<40), 40, atMost: .milliseconds(900)), .pause(breath)]
    } judge: { transcript, subject in
        let arrivals = transcript.events.compactMap { event -> Instant? in
            guard case .datagram(let bytes, _) = event.what, reply(bytes)?.object["mac"] == subject.reply?["mac"] else { return nil }
            return event.at
        }
        let most = arrivals.map { start in arrivals.count { $0 >= start && $0 - start < .milliseconds(900) } }.max() ?? 0
        if most == 0 { return [.skipped("no reply came this time")] }
        return [most <= 10 ? .pass("\(most) replies to 40 probes") : .fail("\(most) replies within 900 ms")]
    }
}
