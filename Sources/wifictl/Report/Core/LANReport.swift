/// What a page about a LAN says: words and numbers that were put together by whoever knows routers.
struct LANReport: Equatable, Sendable {
    /// How a verdict is painted, always beside its word.
    enum Tone: String, Sendable, CaseIterable {
        /// Proven.
        case good
        /// Trusted for another reason.
        case fair
        /// Nothing is proven.
        case open
        /// Somebody else, or somebody posing.
        case bad

        /// A mark that tells it without colour.
        var mark: String {
            switch self {
            case .good: "✓"
            case .fair: "~"
            case .open: "?"
            case .bad: "✕"
            }
        }
    }

    struct Router: Equatable, Sendable {
        var mac: String
        var name: String
        var address: String
        var interface: String
        var device: String
        var firmware: String
        var grade: String
        /// Whether it has a radio, or the MAC, of the access point; or only looks like it.
        var isOnLink: Bool
        var isGuess: Bool
        var evidence: String
        var verdict: String
        var tone: Tone
        /// Why, in a sentence.
        var reason: String
        var radios: [String]
        /// Who vouches for it as its child: a MAC; nil for a router of its own.
        var parent: String?
        /// Milliseconds from the scan's beginning to its first answer.
        var foundAt: Double?
        /// Milliseconds of each probe, nil for one without an answer.
        var trips: [Double?]

        var medianTrip: Double? {
            let answered = trips.compactMap { $0 }.sorted()
            guard !answered.isEmpty else { return nil }
            let middle = answered.count / 2
            return answered.count % 2 == 1 ? answered[middle] : (answered[middle - 1] + answered[middle]) / 2
        }
    }

    /// When it was made.
    var made: String
    var tool: String
    /// The interfaces that were scanned.
    var interfaces: [String]
    /// The access point's addresses; empty when it isn't known.
    var accessPoint: [String]
    /// What there is to say of the link: its network and signal, or why it isn't known.
    var link: String
    /// The MAC of the router that is the one; nil where none could be chosen.
    var chosen: String?
    /// Which one, and why.
    var sentence: String
    var routers: [Router]
    /// How long was looked, in milliseconds.
    var duration: Double
    /// What was counted, what was dropped among it.
    var counts: [Count]

    struct Count: Equatable, Sendable {
        let name: String
        let value: String
    }

    /// Those that were heard: what another one has merely named as its child has no address.
    var heard: Int { routers.count { !$0.address.isEmpty } }

    /// `5 routers`, and how many more are known by what a router says alone.
    var countText: String {
        let silent = routers.count - heard
        return counted(heard, "router") + (silent == 0 ? "" : " and \(counted(silent, "child", "children")) that gave no answer")
    }

    /// What people call a router.
    func title(_ mac: String) -> String { routers.first { $0.mac == mac }.map { $0.name.isEmpty ? mac : $0.name } ?? mac }
}
