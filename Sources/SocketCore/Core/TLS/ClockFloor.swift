/// The time that it certainly is by now (protocol.md, section 6): a device or phone whose clock starts in 1970 must not take
/// an expired certificate for a valid one, nor every good one for one from the future.
///
/// The floor is the newest of the release's date, the floor kept from earlier runs, and the newest beginning of validity that a
/// proven certificate carried. The last two can't push it beyond ``limit``: one mistaken certificate from the year
/// 9000 would otherwise lock everybody out for good.
public struct ClockFloor: Equatable, Sendable {
    /// When this release was made. Set by hand at each release, so that builds stay reproducible.
    public static let releaseDate = WallTime(year: 2_026, month: 11, day: 30)
    /// How far the floor may rise above the release's date, in years.
    public static let yearsAboveRelease = 15

    /// The highest value that the floor can take.
    public let limit: WallTime
    /// It is at least this late.
    public private(set) var value: WallTime

    /// A floor from what an earlier run kept (see ``value``), nil for none.
    public init(persisted: WallTime? = nil, release: WallTime = releaseDate) {
        limit = release.adding(days: ClockFloor.yearsAboveRelease * 365)
        value = release
        if let persisted { raise(to: persisted) }
    }

    /// Takes note of the beginning of validity of a certificate that was proven, revocation and all. True when that raised the
    /// floor, so that it should be kept.
    @discardableResult
    public mutating func raise(to proven: WallTime) -> Bool {
        let raised = min(proven, limit)
        guard raised > value else { return false }
        value = raised
        return true
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
