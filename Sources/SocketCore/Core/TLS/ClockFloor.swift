/// The time that it certainly is by now (protocol.md, section 6): a device or phone whose clock starts in 1970 must not take
/// an expired certificate for a valid one, nor every good one for one from the future.
///
/// The floor is the newest of the release's date, the time that earlier runs kept, and the newest beginning of validity that a
/// proven certificate carried. The last two can't push it beyond ``limit``: one mistaken certificate from the year
/// 9000 would otherwise lock everybody out for good. And one run's clock raises it by a year at most: a clock that was set wrong once
/// mustn't make valid certificates look expired when it's right again.
public struct ClockFloor: Equatable, Sendable {
    /// When this release was made. Set by hand at each release, so that builds stay reproducible.
    public static let releaseDate = WallTime(year: 2_026, month: 11, day: 30)
    /// How far the floor may rise above the release's date, in years.
    public static let yearsAboveRelease = 15

    /// How far the clock of one run can raise the floor: certificates last longer, and whatever was off for longer catches up with each run.
    public static let daysPerRun = 365
    /// Less isn't worth keeping: else every proof would write the state.
    private static let daysWorthKeeping = 1

    /// The highest value that the floor can take.
    public let limit: WallTime
    /// It is at least this late.
    public private(set) var value: WallTime
    /// What this run began with.
    private let start: WallTime

    /// A floor from what an earlier run kept (see ``value``), nil for none.
    public init(persisted: WallTime? = nil, release: WallTime = releaseDate) {
        limit = release.adding(days: ClockFloor.yearsAboveRelease * 365)
        value = min(max(persisted ?? release, release), limit)
        start = value
    }

    /// The same floor, however it came about.
    public static func == (left: ClockFloor, right: ClockFloor) -> Bool { left.value == right.value && left.limit == right.limit }

    /// Takes note of the beginning of validity of a certificate that was proven, revocation and all. True when that raised the
    /// floor, so that it should be kept.
    @discardableResult
    public mutating func raise(to proven: WallTime) -> Bool {
        let raised = min(proven, limit)
        guard raised > value else { return false }
        value = raised
        return true
    }

    /// Takes note of what the system's clock showed when a router was proven: the next run's clock may have started in 1970. True when that
    /// raised the floor by enough to be kept.
    @discardableResult
    public mutating func keep(_ clock: WallTime) -> Bool {
        guard clock >= value.adding(days: ClockFloor.daysWorthKeeping) else { return false }
        return raise(to: min(clock, start.adding(days: ClockFloor.daysPerRun)))
    }

    /// Which time to judge a validity at, given what the system's clock shows.
    public func judge(_ clock: WallTime) -> JudgedTime {
        clock < value ? JudgedTime(now: value, clockIsBehind: true) : JudgedTime(now: clock, clockIsBehind: false)
    }
}

/// A time to judge validities at.
public struct JudgedTime: Equatable, Sendable {
    /// The system's time, or the floor where that is later.
    public let now: WallTime
    /// The system's clock is known to be wrong: "not yet valid" can't be judged, expiry is judged at the floor.
    public let clockIsBehind: Bool

    /// A judged time; see ``ClockFloor/judge(_:)``.
    public init(now: WallTime, clockIsBehind: Bool) {
        self.now = now
        self.clockIsBehind = clockIsBehind
    }
}
