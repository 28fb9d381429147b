/// Which properties of one router are followed, and which of them it has agreed to tell in its present memory of the session.
struct FollowedNames {
    /// Their reports are let through: the router was asked to tell them.
    private(set) var names: Set<String> = []
    /// Wanted of whichever router is current, and not yet held against what this one can do.
    private(set) var wishes: Set<String> = []
    private var told: Set<String> = []
    /// Counts the router's memories of the session: what it agreed to in an earlier one it has forgotten.
    private(set) var memory = 0
    /// Somebody is asking already.
    var isAsking = false
    /// It has refused several at once.
    var asksSingly = false

    /// Whether there's something that the router hasn't agreed to tell.
    var isIncomplete: Bool { !wishes.isEmpty || !names.isSubset(of: told) }

    mutating func add(_ more: some Sequence<String>) { names.formUnion(more) }

    mutating func wish(_ more: Set<String>) { wishes.formUnion(more.subtracting(names)) }

    /// What to ask for next: all at once, unless that was refused. Of the wishes only what the router is `able` to tell stays.
    mutating func next(of able: Set<String>) -> [String] {
        names.formUnion(able)
        wishes = []
        let missing = names.subtracting(told).sorted()
        return asksSingly ? Array(missing.prefix(1)) : missing
    }

    /// The router agreed to tell these, in that memory of the session.
    mutating func agreed(_ some: [String], in memory: Int) {
        guard memory == self.memory else { return }
        told.formUnion(some)
    }

    /// It can't tell these.
    mutating func drop(_ some: [String]) {
        names.subtract(some)
        wishes.subtract(some)
    }

    /// The router has forgotten the session.
    mutating func forgotten() {
        memory += 1
        told = []
    }
}
