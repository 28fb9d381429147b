import SocketCore
import WifiDiscovery

/// Measures round trips: a probe to one router alone, which it answers at once.
///
/// A time is from the call that sends the probe until the kernel has the answer, and one router is asked after the other: neither what this
/// process does meanwhile nor the other routers' answers are in it.
struct RoundTripSampler: Sendable {
    /// Longer is no answer: on a LAN a router is there within a tenth of it, or not at all.
    static let patience = Duration.milliseconds(900)
    /// Whoever hasn't answered by then is waited for while the next one is asked.
    static let turn = Duration.milliseconds(50)
    /// The kernel stamps datagrams from a moment after the first socket that asks for it.
    static let warmUp = Duration.milliseconds(5)

    private let options: RouterDiscovery.Options

    /// - Parameter options: where to look.
    init(_ options: RouterDiscovery.Options) { self.options = options }

    /// The time from the probe to the answer, in the order given; nil where none came, or none could be asked for.
    func sample(_ routers: [FoundRouter]) async -> [(mac: MACAddress, roundTrip: Duration?)] {
        let targets = routers.map(target)
        let trips = await OwnThread.result { RoundTripSampler.measure(targets) }
        return zip(routers, trips).map { ($0.mac, $1) }
    }

    private struct Target: Sendable {
        let mac: MACAddress
        let place: Endpoint
        let interface: UInt32
        /// This machine's address to ask from, where the system would choose another.
        var own: IPAddress?
    }

    private struct Line {
        let socket: TimedDatagrams
        let number: Int
        let target: Target
    }

    /// Several processes may be routers on this machine: a datagram to one address reaches one of them, the group all.
    private func target(_ router: FoundRouter) -> Target {
        let (address, interface) = (router.discovered.address, router.discovered.interface)
        if let named = options.targets.first(where: { $0.address.unscoped == address.unscoped }) {
            return Target(mac: router.mac, place: Endpoint(address, port: named.port), interface: interface)
        }
        let group = options.group ?? DiscoveryDatagram.groupV4
        guard address.isLoopback, address.isV4, group.isV4 else {
            return Target(mac: router.mac, place: Endpoint(address, port: options.port), interface: interface)
        }
        return Target(mac: router.mac, place: Endpoint(group, port: options.port), interface: interface, own: address)
    }

    /// Blocks its thread for ``patience`` behind the last probe at most.
    private static func measure(_ targets: [Target]) -> [Duration?] {
        var ledger = TripLedger()
        // Who can't be asked gives no answer either.
        let lines = targets.enumerated().compactMap { number, target -> Line? in
            let socket = try? TimedDatagrams(towards: target.place.address, interface: target.interface, from: target.own)
            return socket.map { Line(socket: $0, number: number, target: target) }
        }
        SystemCalls.sleep(warmUp)
        for line in lines {
            let nonce = HexToken(UInt64.random(in: 0...UInt64.max))
            let id = UInt32.random(in: 1...UInt32.max)
            let probe = DiscoveryDatagram(msgId: id, .probe(Probe(nonce: nonce, maxWaitMilliseconds: 0, mac: line.target.mac))).encoded()
            guard let sent = try? line.socket.send(probe, to: line.target.place) else { continue }
            ledger.asked(TripLedger.Question(nonce: nonce, msgId: id, mac: line.target.mac, sent: sent), line.number)
            hear([line], until: sent + turn, &ledger)
        }
        let late = lines.filter { ledger.trips[$0.number] == nil }
        hear(late, until: SystemCalls.monotonicNow() + (patience - turn), &ledger)
        return targets.indices.map { ledger.trips[$0] }
    }

    /// Takes what comes until all of these have been answered, or it's time. That one waits while another comes doesn't matter: when it
    /// came, the kernel says.
    private static func hear(_ lines: [Line], until deadline: Instant, _ ledger: inout TripLedger) {
        var open = lines
        while !open.isEmpty {
            let left = deadline - SystemCalls.monotonicNow()
            guard left > .zero else { return }
            for line in open {
                // An error is an ICMP answer: the router may still come back.
                let arrivals = (try? line.socket.receive(within: open.count == 1 ? left : .milliseconds(1))) ?? []
                for arrival in arrivals { ledger.heard(arrival.bytes, at: arrival.at, line.number) }
            }
            open.removeAll { ledger.trips[$0.number] != nil }
        }
    }
}

/// Which probe each answer belongs to, and how long it took.
struct TripLedger {
    struct Question {
        let nonce: HexToken
        let msgId: UInt32
        let mac: MACAddress
        let sent: Instant
    }

    private var questions: [Int: Question] = [:]
    /// By the number under which it was asked; the first answer counts.
    private(set) var trips: [Int: Duration] = [:]

    mutating func asked(_ question: Question, _ number: Int) { questions[number] = question }

    /// Takes a datagram; what isn't the answer of the router that was asked is nothing.
    mutating func heard(_ bytes: [UInt8], at: Instant, _ number: Int) {
        guard let question = questions[number], trips[number] == nil, let datagram = try? DiscoveryDatagram.parse(bytes.span.bytes),
            datagram.msgId == question.msgId, case .reply(let nonce, let router) = datagram.message, nonce == question.nonce,
            router.mac == question.mac
        else { return }
        trips[number] = max(at - question.sent, .zero)
    }
}
