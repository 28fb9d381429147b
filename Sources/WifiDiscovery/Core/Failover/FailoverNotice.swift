import SocketCore

/// What is done when the link to the current router goes bad.
public enum FailoverPolicy: String, Hashable, Sendable, CaseIterable {
    /// Nothing: the app watches its commands itself.
    case never
    /// A better router is proposed; the app decides.
    case propose
    /// A better router is moved to.
    case automatic
}

/// What a scan has measured of a router that could be used: confirmed, without conflict, and proven where proof is wanted.
public struct LinkMeasurement: Equatable, Sendable {
    /// Which router.
    public var router: MACAddress
    /// dBm of its strongest radio in the kernel's table of networks; nil when that doesn't tell.
    public var signal: Double?
    /// From a probe to its answer; nil when that wasn't measured.
    public var roundTrip: Duration?

    /// A measurement.
    public init(_ router: MACAddress, signal: Double? = nil, roundTrip: Duration? = nil) {
        self.router = router
        self.signal = signal
        self.roundTrip = roundTrip
    }
}

/// A move that would help, and why.
public struct FailoverProposal: Equatable, Sendable, CustomStringConvertible {
    /// Why the other one is better.
    public enum Reason: Equatable, Sendable {
        /// The current router answered none of the probes; the other one did.
        case silent
        /// The other one's signal is stronger, both in dBm.
        case stronger(current: Double, other: Double)
        /// The other one answers faster.
        case faster(current: Duration, other: Duration)
    }

    /// The router that is in use.
    public var current: MACAddress
    /// The one that would be better.
    public var other: MACAddress
    /// Why.
    public var reason: Reason
    /// Time-outs without a success between that led to this.
    public var timeouts: Int

    /// A sentence for people.
    public var description: String {
        let why =
            switch reason {
            case .silent: "\(current) answers no probe and \(other) does"
            case .stronger(let mine, let other): "its signal is \(Int(other.rounded())) dBm against \(Int(mine.rounded())) dBm"
            case .faster(let mine, let other):
                "it answers in \(other.inMilliseconds.rounded()) ms against \(mine.inMilliseconds.rounded()) ms"
            }
        return "\(other) rather than \(current), whose commands timed out \(timeouts) times in a row: \(why)"
    }
}

/// News of a fail-over.
public enum FailoverNotice: Equatable, Sendable {
    /// So many commands timed out in a row; the network is asked for something better.
    case looking(timeouts: Int)
    /// Nothing is enough better to move.
    case stays(candidates: Int)
    /// This would be better.
    case proposed(FailoverProposal)
    /// It was moved to.
    case moved(FailoverProposal)
    /// Moving there failed; the current router stays.
    case moveFailed(FailoverProposal, String)
    /// The network couldn't be asked.
    case scanFailed(String)
}
