import SocketCore
import Synchronization
import WifiDiscovery

/// Prints what happens to the routers of `wifictl router`, and counts it for the summary.
final class RouterLog: Sendable {
    private struct Counts {
        var hellos = 0
        var messages = 0
        var receipts = 0
        var refused = 0
    }

    let output: Output
    private let start = ContinuousClock.now
    private let isFleet: Bool
    private let counts = Mutex(Counts())

    init(_ output: Output, isFleet: Bool) {
        self.output = output
        self.isFleet = isFleet
    }

    /// What became of a datagram on the discovery port.
    func probe(_ source: Endpoint, _ outcome: ProbeOutcome) {
        switch outcome {
        case .answered(let count, let probe, let msgId): tell(probe, msgId, source, answers: count)
        case .silent(let probe, let msgId): tell(probe, msgId, source, answers: 0)
        case .invalid(let error): output.detail("\(source.text): no discovery message: \(error)")
        case .offLink: output.detail("\(source.text): not on this link, not answered")
        case .repeated, .notAProbe: break
        }
    }

    private func tell(_ probe: Probe, _ msgId: UInt32, _ source: Endpoint, answers: Int) {
        if output.isJSON {
            output.json(
                "probe",
                [
                    "source": .string(source.text), "msgId": .whole(msgId), "answers": .whole(answers), "nonce": .string("\(probe.nonce)"),
                    "maxWait": .whole(probe.maxWaitMilliseconds), "bssid": .text(probe.bssid?.description),
                    "known": .whole(probe.known.count),
                ])
        } else if answers == 0 {
            let isKnown = !probe.known.isEmpty
            line("probe", "\(source.address.text) asks\(isKnown ? " who else is there" : ""), no answer")
        } else if isFleet {
            line("probe", "\(source.address.text) asks, \(answers) answer")
        } else {
            line("probe", "\(source.address.text) asks\(probe.bssid.map { " about \($0)" } ?? ""), answered")
        }
    }

    /// What happened to one router.
    func event(_ mac: MACAddress, _ event: SimulatedRouter.Event) {
        let who = isFleet ? "\(mac): " : ""
        switch event {
        case .listening(let router, let endpoint): listening(router, endpoint)
        case .hello(let hello, let owner, let resumed): self.hello(mac, hello, owner, resumed: resumed, who)
        case .message(let session, let message): self.message(mac, session, message, who)
        case .outcome(let session, let outcome): settled(mac, session, outcome, who)
        case .closed(let session, let reason):
            if output.isJSON {
                output.json(
                    "closed", ["mac": .string("\(mac)"), "session": .string("\(session)"), "reason": .string("\(reason)")])
            } else {
                line("closed", "\(who)\(reason)")
            }
        case .refused(let peer, let reason):
            counts.withLock { $0.refused += 1 }
            if output.isJSON {
                output.json("refused", ["mac": .string("\(mac)"), "source": .string(peer.text), "reason": .string("\(reason)")])
            } else {
                line("refused", "\(who)\(peer.text): \(reason)")
            }
        case .failed(let error): output.warning("\(who)\(error)")
        case .rebooted(let boot):
            output.isJSON
                ? output.json("rebooted", ["mac": .string("\(mac)"), "boot": .string("\(boot)")])
                : line("reboot", "\(who)boot is \(boot) now")
        }
    }

    private func listening(_ router: RouterDescription, _ endpoint: Endpoint) {
        if output.isJSON {
            output.json(
                "listening",
                [
                    "mac": .string("\(router.mac)"), "name": .string(router.name), "address": .string(endpoint.address.text),
                    "tcp": .whole(endpoint.port), "tls": .bool(router.tls), "boot": .text(router.boot?.description),
                    "radios": .array(router.radios.map(\.json)),
                ])
        } else if !isFleet {
            let bssids = router.radios.map { "\($0.bssid)" }.joined(separator: " ")
            output.line(
                "\(output.paint(router.name, .bold))  \(router.mac)\(bssids.isEmpty ? "" : "  BSSID \(bssids)")  TCP \(endpoint.port)"
                    + (router.tls ? " with TLS" : ""))
        } else {
            output.detail("\(router.name): \(router.mac), TCP \(endpoint.port)")
        }
    }

    private func hello(_ mac: MACAddress, _ hello: ControllerHello, _ owner: String?, resumed: Bool, _ who: String) {
        counts.withLock { $0.hellos += 1 }
        if output.isJSON {
            output.json(
                "hello",
                [
                    "mac": .string("\(mac)"), "session": .string("\(hello.session)"), "resumed": .bool(resumed),
                    "client": .text(hello.client), "station": .text(hello.station), "operator": .text(owner),
                ])
        } else {
            let whose = owner.map { " of \(DisplayWidth.printable($0))" } ?? ""
            let who = "\(who)\(hello.client ?? "a controller")\(whose)"
            line("hello", "\(who) \(resumed ? "is back in" : "opens") session \(hello.session.short)")
        }
    }

    private func message(_ mac: MACAddress, _ session: SessionIdentifier, _ message: InboundMessage, _ who: String) {
        counts.withLock { $0.messages += 1 }
        let text = String(validating: message.body, as: UTF8.self)
        if output.isJSON {
            output.json(
                "message",
                [
                    "mac": .string("\(mac)"), "session": .string("\(session)"), "msgId": .whole(message.msgId),
                    "version": .whole(message.version), "len": .whole(message.body.count), "body": .hex(message.body), "text": .text(text),
                ])
        } else {
            let shown = text.map(DisplayWidth.printable) ?? Hex.text(message.body.prefix(64))
            line("message", "\(who)#\(message.msgId), \(message.body.count) bytes: \(DisplayWidth.fit(shown, to: 100))")
        }
    }

    /// A message of the router's own has ended.
    private func settled(_ mac: MACAddress, _ session: SessionIdentifier, _ outcome: MessageOutcome, _ who: String) {
        guard outcome.result == .delivered else {
            return output.detail("\(who)message #\(outcome.ticket.msgId) ended as \(outcome.result.rawValue)")
        }
        counts.withLock { $0.receipts += 1 }
        if output.isJSON {
            output.json(
                "receipt",
                [
                    "mac": .string("\(mac)"), "session": .string("\(session)"), "msgId": .whole(outcome.ticket.msgId),
                    "sends": .whole(outcome.sends), "ms": .milliseconds(outcome.elapsed),
                ])
        } else {
            line("receipt", "\(who)for #\(outcome.ticket.msgId), after \(outcome.elapsed.briefText)")
        }
    }

    /// What was counted in all.
    func summary(_ counters: ResponderCounters, sendFailures: Int) {
        let counts = counts.withLock { $0 }
        let invalid = counters.invalid.values.reduce(0, +)
        if output.isJSON {
            let reasons = counters.invalid.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key.rawValue, .whole($0.value)) }
            output.json(
                "summary",
                [
                    "probes": .whole(counters.probes), "replies": .whole(counters.replies), "repeated": .whole(counters.repeated),
                    "rateLimited": .whole(counters.rateLimited), "offLink": .whole(counters.offLink), "invalid": .whole(invalid),
                    "invalidReasons": .object(reasons), "lost": .whole(counters.lost), "sendFailures": .whole(sendFailures),
                    "hellos": .whole(counts.hellos), "refused": .whole(counts.refused), "messages": .whole(counts.messages),
                    "receipts": .whole(counts.receipts),
                ])
            return
        }
        let dropped = [
            (invalid, "invalid"), (counters.offLink, "from elsewhere"), (counters.rateLimited, "over the rate limit"),
            (counters.lost, "lost on purpose"), (counts.refused, counts.refused == 1 ? "connection refused" : "connections refused"),
        ].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        output.remark(
            "\(counted(counters.probes, "probe")), \(counted(counters.replies, "reply", "replies")), \(counted(counts.hellos, "hello")), "
                + counted(counts.messages, "message")
                + (dropped.isEmpty ? "" : "; " + dropped.joined(separator: ", ")))
    }

    /// As wide as ten hours, `10:00:00`, behind a blank: what comes later than 99 hours shifts its line.
    static let momentWidth = 9

    /// When something happened, counted from the start: a clock from the first minute on, which is equally wide for long.
    static func moment(_ span: Duration) -> String { span < .seconds(60) ? span.briefText : ScreenText.clock(span) }

    private func line(_ what: String, _ text: String) {
        let moment = RouterLog.moment(start.duration(to: .now))
        let time = String(repeating: " ", count: max(0, RouterLog.momentWidth - moment.count)) + moment
        output.line("\(output.paint(time, .dim))  \(what.padded(to: 7))  \(text)")
    }
}

extension String {
    /// With blanks behind it.
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - DisplayWidth.of(self))) }
}

extension SessionIdentifier {
    /// Enough of it for people.
    var short: String { String(description.prefix(8)) }
}
