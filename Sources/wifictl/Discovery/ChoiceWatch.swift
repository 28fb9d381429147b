import WifiDiscovery

/// The choice among a watch's routers, made anew only when something that it depends on has changed: with thousands of routers there, each
/// of which is an event, choosing at each would take the time of their square.
struct ChoiceWatch<ID: Hashable> {
    private var candidates: [ID: Selection.Candidate] = [:]
    /// Whether the choice may be another one since it was last made.
    private(set) var mayHaveChanged = false

    /// Whether only one router answers.
    var isAlone: Bool { candidates.count == 1 }

    /// A router is there or has changed; nil for one that is gone or can't be chosen.
    mutating func set(_ id: ID, _ candidate: Selection.Candidate?) {
        let wasAlone = isAlone
        let before = candidates[id]
        candidates[id] = candidate
        if ChoiceWatch.matters(before) || ChoiceWatch.matters(candidate) || isAlone != wasAlone { mayHaveChanged = true }
    }

    /// Somebody else has made the choice anew.
    mutating func settled() { mayHaveChanged = false }

    /// Chooses among those that are there now: that one is the only responder is no longer true once another answers.
    mutating func choose() -> Selection {
        mayHaveChanged = false
        let isAlone = isAlone
        return Selection.choose(
            among: candidates.values.map { candidate in
                var judged = candidate
                judged.evidence.onlyResponder = isAlone
                return judged
            })
    }

    /// A router without a relation to the link that isn't the gateway either has no say in the choice but by being there.
    private static func matters(_ candidate: Selection.Candidate?) -> Bool {
        guard let candidate else { return false }
        return candidate.grading.grade <= .family || candidate.evidence.gateway || candidate.evidence.seesStation == true
    }
}
