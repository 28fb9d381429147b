import SocketCore

/// In which order routers are asked for proof, and at which of their places, when there are more than can be asked at once.
///
/// A scan may have heard thousands of forged replies from hundreds of addresses, each of which may keep a handshake waiting until its time is
/// over. So the time is shared by address: whose network (an IPv4 address or an IPv6 /64), and then whose address, has used least of it comes
/// next, the handshakes under way counted in full. Routers that more speaks for than their own word have a start of one such wait. A router is
/// asked at its first place; when that proves nothing, at all others as their turns come.
///
/// - **Inputs**: ``ended(_:after:isProof:)``, once for each turn that ``next()`` gave.
/// - **Outputs**: ``next()``; nil when nothing is left to begin now. ``waitingSources`` for how long each may take.
struct VerificationTurns {
    /// What is known of a router beside what it says.
    enum Standing: Int {
        /// It was proven before, or its key is trusted by the user.
        case proven
        /// It's the gateway, has the access point's MAC, or the one that the kernel knows at its address.
        case plausible
        case claimed
    }

    struct Subject {
        var standing: Standing
        /// The first place, and the others; none at all for one that isn't to be asked.
        var places: [Endpoint]
    }

    /// One router at one place.
    struct Turn: Hashable {
        var subject: Int
        var place: Int
    }

    /// A source's turns by standing, each in the order of the subjects.
    private struct Source {
        var used = Duration.zero
        var queues: [ArraySlice<Turn>] = [[], [], []]

        var isEmpty: Bool { queues.allSatisfy(\.isEmpty) }
        var first: Turn? { queues.lazy.compactMap(\.first).first }
    }

    private let subjects: [Subject]
    /// What a handshake that is under way counts for.
    private let limit: Duration
    private var settled: Set<Int> = []
    private var sources: [IPAddress: Source] = [:]
    private var networks: [IPAddress: Duration] = [:]
    /// Sources with turns, in the order in which they came.
    private var waiting: [IPAddress] = []

    init(_ subjects: [Subject], limit: Duration) {
        self.subjects = subjects
        self.limit = limit
        for (index, subject) in subjects.enumerated() where !subject.places.isEmpty { enqueue(Turn(subject: index, place: 0)) }
    }

    /// Sources of which somebody still waits to be asked.
    var waitingSources: Int { waiting.count }

    func endpoint(_ turn: Turn) -> Endpoint { subjects[turn.subject].places[turn.place] }

    /// The next one to ask.
    mutating func next() -> Turn? {
        while let source = leastUsed {
            guard let turn = pop(source) else { continue }
            if settled.contains(turn.subject) { continue }
            charge(source, limit)
            return turn
        }
        return nil
    }

    /// One was asked, and it took that long.
    mutating func ended(_ turn: Turn, after took: Duration, isProof: Bool) {
        charge(endpoint(turn).address, took - limit)
        if isProof {
            settled.insert(turn.subject)
        } else if turn.place == 0, !settled.contains(turn.subject) {
            for place in subjects[turn.subject].places.indices.dropFirst() { enqueue(Turn(subject: turn.subject, place: place)) }
        }
    }

    private mutating func enqueue(_ turn: Turn) {
        let address = endpoint(turn).address
        if sources[address]?.isEmpty ?? true { waiting.append(address) }
        sources[address, default: Source()].queues[subjects[turn.subject].standing.rawValue].append(turn)
    }

    private mutating func pop(_ address: IPAddress) -> Turn? {
        guard let turn = sources[address]?.first else { return nil }
        sources[address]?.queues[subjects[turn.subject].standing.rawValue].removeFirst()
        if sources[address]?.isEmpty == true { waiting.removeAll { $0 == address } }
        return turn
    }

    private mutating func charge(_ address: IPAddress, _ span: Duration) {
        sources[address]?.used += span
        networks[address.network, default: .zero] += span
    }

    /// Of equal ones, the one that more speaks for, and then the one that came first.
    private var leastUsed: IPAddress? {
        var best: (address: IPAddress, key: (Duration, Duration, Int))?
        for address in waiting {
            guard let source = sources[address], let turn = source.first else { continue }
            let standing = subjects[turn.subject].standing
            let start = standing == .claimed ? limit : .zero
            let key = (networks[address.network, default: .zero] + start, source.used + start, standing.rawValue)
            if best.map({ key < $0.key }) ?? true { best = (address, key) }
        }
        return best?.address
    }
}
