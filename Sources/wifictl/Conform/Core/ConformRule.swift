/// One rule of the protocol's checklist (docs/protocol.md, section 8, where it stands with the same id and sentence).
struct ConformRule: Hashable, Sendable {
    /// How a rule is found out about.
    enum Means: Hashable, Sendable {
        /// By asking the router.
        case asked
        /// By asking and waiting for many seconds.
        case waited
        /// From what only a person in a laboratory can do or see.
        case byHand
        /// By something that changes the device, and only when the user said so with this option.
        case onRequest(String)
    }

    /// Words with dashes, for ever the same.
    let id: String
    /// The section of docs/protocol.md.
    let section: Int
    /// What must hold, as a sentence about the router.
    let text: String
    /// False for a "should": missing it is told and is no failure.
    let isMust: Bool
    let means: Means

    init(_ id: String, _ section: Int, _ text: String, isMust: Bool = true, _ means: Means = .asked) {
        self.id = id
        self.section = section
        self.text = text
        self.isMust = isMust
        self.means = means
    }

    /// The rule as the checklist says it, with what is special about it.
    var line: String { text + (isMust ? "" : " (should)") + (means == .byHand ? " (by hand)" : "") }

    static func == (left: ConformRule, right: ConformRule) -> Bool { left.id == right.id }
    func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// What was found out about a rule.
enum ConformFinding: Equatable, Sendable {
    /// It holds, and where that's worth saying, by how much.
    case pass(String? = nil)
    /// It doesn't: what the router did instead.
    case fail(String)
    /// Nobody knows: why.
    case skipped(String)

    /// The word that scripts read.
    var word: String {
        switch self {
        case .pass: "pass"
        case .fail: "fail"
        case .skipped: "skipped"
        }
    }

    /// The word that people read: a should that isn't kept is no failure.
    func told(isMust: Bool) -> String {
        if case .fail = self, !isMust { return "miss" }
        return word
    }

    var detail: String? {
        switch self {
        case .pass(let detail): detail
        case .fail(let detail), .skipped(let detail): detail
        }
    }

    /// `pass` when the complaint is nil.
    static func complaint(_ complaint: String?, otherwise detail: String? = nil) -> ConformFinding {
        complaint.map { .fail($0) } ?? .pass(detail)
    }
}
