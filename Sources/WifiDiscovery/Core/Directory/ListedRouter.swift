import SocketCore

/// A router as the manager lists it: what it is, and why it is, or isn't, one to talk to.
public struct ListedRouter: Equatable, Sendable {
    /// Where it stands, with the reason.
    public enum Standing: Equatable, Sendable {
        /// In use.
        case current
        /// It's there, and a session may be opened.
        case available
        /// It would be there, but isn't proven to be the company's.
        case notProven(Judgement)
        /// Two answer in its name, and which of them is meant can't be told.
        case conflicted
        /// It was only announced: no probe of ours was answered.
        case announcedOnly
        /// It said goodbye.
        case left
        /// It was there, and answers no longer.
        case silent
        /// Known from an earlier run and not heard in this one.
        case remembered
    }

    /// What it says about itself, and where it was heard.
    public var router: KnownRouter
    /// Why it is or isn't usable.
    public var standing: Standing
    /// Its relation to the Wi-Fi link; nil when no scan of this run has graded it.
    public var grading: Grading?
    /// What the system knows about its address; nil as ``grading``.
    public var evidence: Evidence?
    /// Whether its session is kept for a return: it was current before.
    public var hasSession: Bool

    /// A listed router.
    public init(
        router: KnownRouter, standing: Standing, grading: Grading? = nil, evidence: Evidence? = nil, hasSession: Bool = false
    ) {
        self.router = router
        self.standing = standing
        self.grading = grading
        self.evidence = evidence
        self.hasSession = hasSession
    }

    /// Whether a reader would see no difference: when it was last heard is none.
    func looksLike(_ other: ListedRouter) -> Bool {
        var (left, right) = (self, other)
        left.router.presence = .remembered
        right.router.presence = .remembered
        left.router.heardOrder = right.router.heardOrder
        left.router.lastSeen = right.router.lastSeen
        return left == right
    }

    /// Its identity.
    public var mac: MACAddress { router.router.mac }
    /// The name for people; its MAC when it has none.
    public var name: String { router.router.name.isEmpty ? "\(mac)" : router.router.name }

    /// A clause for people.
    public var reason: String {
        let link = grading.map { " (\($0.grade.rawValue))" } ?? ""
        switch standing {
        case .current: return "in use\(link)"
        case .available: return "answers\(link)"
        case .notProven(let judgement): return "not proven to be the company's: \(judgement.detail)"
        case .conflicted: return "two devices answer in its name"
        case .announcedOnly: return "announced, but no probe of ours was answered"
        case .left: return "has said goodbye"
        case .silent: return "answers no longer"
        case .remembered: return "known from before, not heard yet"
        }
    }

    /// Where a router stands by all that is known of it.
    static func standing(
        of known: KnownRouter, isCurrent: Bool, isConflicted: Bool, judgement: Judgement?, wantsProof: Bool
    ) -> Standing {
        if isCurrent { return .current }
        switch known.presence {
        case .left: return .left
        case .silent: return .silent
        case .remembered: return .remembered
        case .present: break
        }
        if isConflicted, judgement?.verdict != .company { return .conflicted }
        guard known.isConfirmed else { return .announcedOnly }
        if wantsProof, let judgement, judgement.verdict != .company { return .notProven(judgement) }
        return .available
    }
}
