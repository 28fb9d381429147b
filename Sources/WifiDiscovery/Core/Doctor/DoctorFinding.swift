/// One thing that was looked at to find out why discovery may fail here.
public struct DoctorFinding: Equatable, Sendable {
    /// What was looked at.
    public enum Check: String, Hashable, Sendable, CaseIterable {
        /// One network interface.
        case interface
        /// Whether there is any interface to scan.
        case network
        /// The way out for multicast, and the default route.
        case route
        /// A datagram of our own over multicast, and one by unicast.
        case selfProbe
        /// The machine's packet filter.
        case firewall
        /// Who holds the discovery port.
        case port
        /// The Wi-Fi link and whether it may be asked for.
        case wifi
        /// Whether neighbours can be reached at all.
        case isolation
        /// What else the system restricts.
        case limits
        /// Other people's devices that answer, which shows that the network carries discovery.
        case others
    }

    /// What it means for discovery.
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// As it should be.
        case fine
        /// Worth knowing, no reason for a failure by itself.
        case note
        /// Couldn't be looked at.
        case unknown
        /// A likely cause of a failure.
        case cause
    }

    /// What was looked at.
    public var check: Check
    /// Which one of several (an interface's name); empty where there's only one.
    public var subject: String
    /// What it means.
    public var verdict: Verdict
    /// One sentence.
    public var detail: String
    /// What to do about it; empty where there's nothing to do.
    public var advice: String

    /// A finding.
    public init(_ check: Check, _ subject: String = "", _ verdict: Verdict, _ detail: String, advice: String = "") {
        self.check = check
        self.subject = subject
        self.verdict = verdict
        self.detail = detail
        self.advice = advice
    }
}
