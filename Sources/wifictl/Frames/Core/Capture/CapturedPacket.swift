/// One packet out of a capture file.
struct CapturedPacket: Sendable {
    /// When it was seen; nil where the file doesn't say.
    let time: CaptureTime?
    /// What the bytes begin with, as a number of the registry of link types.
    let linkType: UInt16
    /// What was captured of it.
    let bytes: ByteWindow
    /// Bytes that it had on the wire; more than `bytes` when the capture kept only the start of each packet.
    let originalLength: Int
}

/// A moment on the wall clock, counted from 1970-01-01 UTC without leap seconds.
struct CaptureTime: Hashable, Sendable, CustomStringConvertible {
    /// Until the end of the year 9999: what lies beyond is a damaged time stamp, and couldn't be written.
    private static let lastSecond: UInt64 = 253_402_300_799
    private static let secondsADay: UInt64 = 86_400

    let seconds: UInt64
    let nanoseconds: UInt32

    /// `ticks` units of 1 / `ticksPerSecond` s, moved by `offset` s; nil outside of 1970 to 9999.
    init?(ticks: UInt64, ticksPerSecond: UInt64, offset: Int64 = 0) {
        let (whole, rest) = ticks.quotientAndRemainder(dividingBy: ticksPerSecond)
        guard whole <= CaptureTime.lastSecond, (-Int64(CaptureTime.lastSecond)...Int64(CaptureTime.lastSecond)).contains(offset)
        else { return nil }
        let moved = Int64(whole) + offset
        guard moved >= 0, moved <= CaptureTime.lastSecond else { return nil }
        seconds = UInt64(moved)
        // The remainder is below the divisor, so the quotient fits.
        let product = rest.multipliedFullWidth(by: 1_000_000_000)
        nanoseconds = UInt32(ticksPerSecond.dividingFullWidth(product).quotient)
    }

    /// RFC 3339, in UTC, with all nine decimals: `2026-11-30T08:11:16.123456789Z`.
    var description: String {
        let (year, month, day) = CaptureTime.date(ofDay: seconds / CaptureTime.secondsADay)
        let second = seconds % CaptureTime.secondsADay
        let clock = [second / 3_600, second / 60 % 60, second % 60].map { CaptureTime.padded($0, 2) }.joined(separator: ":")
        let date = [CaptureTime.padded(year, 4), CaptureTime.padded(month, 2), CaptureTime.padded(day, 2)].joined(separator: "-")
        return "\(date)T\(clock).\(CaptureTime.padded(UInt64(nanoseconds), 9))Z"
    }

    /// The Gregorian date of a day counted from 1970-01-01. The year is taken to begin in March, so that the leap day comes
    /// last and months have a regular pattern of lengths.
    private static func date(ofDay day: UInt64) -> (year: UInt64, month: UInt64, day: UInt64) {
        let shifted = day + 719_468  // Days from 0000-03-01 to 1970-01-01.
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * marchMonth + 2) / 5 + 1)
    }

    private static func padded(_ number: UInt64, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
