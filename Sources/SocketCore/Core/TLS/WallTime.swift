/// A second of civil time (UTC), as certificates count it. Cores never read the wall clock: it comes in as an argument.
public struct WallTime: Comparable, Hashable, Sendable, BitwiseCopyable {
    /// Seconds since 1970-01-01T00:00:00Z, leap seconds not counted.
    public var seconds: Int64

    /// The second that many seconds after the start of 1970.
    public init(seconds: Int64) { self.seconds = seconds }

    /// A second of the Gregorian calendar; values past a field's range carry over.
    public init(year: Int, month: Int, day: Int, hour: Int = 0, minute: Int = 0, second: Int = 0) {
        // Years are counted from March, so that the leap day is a year's last.
        let shifted = month > 2 ? Int64(year) : Int64(year) - 1
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * Int64((month + 9) % 12) + 2) / 5 + Int64(day) - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        seconds = days * 86_400 + Int64(hour) * 3_600 + Int64(minute) * 60 + Int64(second)
    }

    /// 9999-12-31T23:59:59Z, which RFC 5280 (section 4.1.2.5) gives to certificates that don't expire.
    public static let noExpiry = WallTime(year: 9_999, month: 12, day: 31, hour: 23, minute: 59, second: 59)

    /// Orders by time.
    public static func < (left: WallTime, right: WallTime) -> Bool { left.seconds < right.seconds }

    /// The second `days` days later.
    public func adding(days: Int) -> WallTime { WallTime(seconds: seconds + Int64(days) * 86_400) }
}

extension WallTime: CustomStringConvertible {
    /// ISO 8601 in UTC: `2026-11-30T08:00:00Z`.
    public var description: String {
        let days = seconds >= 0 ? seconds / 86_400 : (seconds + 1) / 86_400 - 1
        let rest = seconds - days * 86_400
        let (year, month, day) = WallTime.civil(days)
        let clock = [rest / 3_600, rest / 60 % 60, rest % 60].map { WallTime.padded($0, to: 2) }.joined(separator: ":")
        return "\(WallTime.padded(year, to: 4))-\(WallTime.padded(month, to: 2))-\(WallTime.padded(day, to: 2))T\(clock)Z"
    }

    /// The day alone: `2026-11-30`.
    public var day: String { String(description.prefix { $0 != "T" }) }

    private static func civil(_ daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let days = daysSince1970 + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: Int64, to width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
