import SocketCore

/// Decides when to read the Wi-Fi link again and which readings are news.
///
/// A roam leaves the station without an access point for a few tenths of a second. That isn't told to anybody: the link is
/// asked again at short intervals, and only what it settles on counts.
///
/// Inputs: ``noticed(now:)`` for each event of the kernel, ``read(_:now:)`` for each reading. Query: ``deadline``, the time to
/// read next.
struct LinkWatch {
    /// Without an association for that long, the station isn't roaming but gone. Roams of 0.2 s are usual; with 802.1X and no
    /// fast transition they take up to a second.
    static let grace: Duration = .seconds(2)
    /// Between readings while nothing is associated.
    static let retry: Duration = .milliseconds(100)
    /// A roam is half a dozen events in a row: one reading for all of them.
    static let gathering: Duration = .milliseconds(20)
    /// Events can be lost when the kernel's queue is full, and wireless extensions have none.
    static let routine: Duration = .seconds(5)

    /// When to read next.
    private(set) var deadline: Instant
    private var told: WirelessReport?
    private var missingSince: Instant?

    init(now: Instant) { deadline = now }

    /// The kernel reported a change.
    mutating func noticed(now: Instant) { deadline = min(deadline, now + LinkWatch.gathering) }

    /// Takes a reading.
    ///
    /// - Returns: the report when it's news: the first one, or one with other addresses or another reason.
    mutating func read(_ report: WirelessReport, now: Instant) -> WirelessReport? {
        if let reason = report.unknown, reason.mayPass, told?.addresses.isEmpty == false {
            let since = missingSince ?? now
            missingSince = since
            if now - since < LinkWatch.grace {
                deadline = now + LinkWatch.retry
                return nil
            }
        }
        missingSince = nil
        deadline = now + LinkWatch.routine
        defer { told = report }
        let isNews = told.map { $0.addresses != report.addresses || $0.unknown != report.unknown } ?? true
        return isNews ? report : nil
    }
}
