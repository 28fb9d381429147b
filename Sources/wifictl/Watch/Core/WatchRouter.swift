/// One router as the screen knows it: words that were put together by whoever knows what a router is.
struct WatchRouter: Equatable, Sendable {
    /// Its MAC: what names it in keys and actions.
    var id: String
    var title: String
    var address: String
    var device: String
    var grade: String
    var gradePaint: Paint?
    /// The best grades first.
    var rank: Int
    /// Everything that is known, for the pane of details: a name and a value each.
    var facts: [Fact] = []

    struct Fact: Equatable, Sendable {
        let name: String
        let value: String
        init(_ name: String, _ value: String) { (self.name, self.value) = (name, value) }
    }
}

/// What a router was found to be, in words.
struct WatchVerdict: Equatable, Sendable {
    var word: String
    var paint: Paint
    /// Why, in a sentence.
    var detail: String
}

/// The session as the screen shows it.
struct WatchSession: Equatable, Sendable {
    /// Whose it is.
    var router: String
    /// `open`, `reconnecting`, …
    var state: String
    var paint: Paint?
    /// The same with what there is to say of it.
    var remark: String

    /// What was counted in it.
    struct Counters: Equatable, Sendable {
        var delivered = 0
        var otherwise = 0
        var received = 0
        var unsettled = 0
        var resends: UInt64 = 0
        var duplicates: UInt64 = 0
        var openings: UInt64 = 0
    }
}
