import SocketCore
import Synchronization

/// What a router judges controllers by, and what it shows them: the other side of ``RouterTrust`` (protocol.md, section 6). A value; files
/// are read when it's made, those of revocation lists again when they have changed.
public struct OperatorTrust: Sendable {
    /// The router's own certificate and key.
    public var identity: TLSIdentity
    /// The operators' roots, or issuers below them.
    public var roots: [TLSConfiguration.NamedBytes]
    /// Revocation lists of the operators' issuers.
    public var revocationLists: [TLSConfiguration.NamedBytes]
    /// Whom to admit.
    public var rules: OperatorRules
    /// The system's civil time.
    public var clock: @Sendable () -> WallTime = { .systemNow() }

    /// Trust as given.
    public init(
        identity: TLSIdentity, roots: [TLSConfiguration.NamedBytes], revocationLists: [TLSConfiguration.NamedBytes] = [],
        rules: OperatorRules = OperatorRules()
    ) {
        self.identity = identity
        self.roots = roots
        self.revocationLists = revocationLists
        self.rules = rules
    }

    /// The settings of a router's connections. Controllers are judged at `floor` where the system's clock lies below it, and each that is
    /// admitted may raise it.
    ///
    /// - Parameters:
    ///   - floor: what an earlier run has kept.
    ///   - onRaise: the floor has risen and should be kept; called in the middle of a handshake.
    ///   - onRemark: the file of a revocation list has changed; called in the middle of a handshake too.
    public func configuration(
        floor: ClockFloor = ClockFloor(), onRaise: @escaping @Sendable (ClockFloor) -> Void = { _ in },
        onRemark: @escaping @Sendable (String) -> Void = { _ in }
    ) -> TLSConfiguration {
        let (rules, clock, risen) = (rules, clock, RisingFloor(floor))
        var configuration = TLSConfiguration(
            role: .server(requiresPeer: true), identity: identity, roots: roots, revocationLists: revocationLists
        ) { evidence in
            let now = clock()
            switch rules.judge(evidence, at: risen.value.judge(now)) {
            case .failure(let error): return error
            case .success:
                if let higher = risen.raised(by: evidence, at: now) { onRaise(higher) }
                return nil
            }
        }
        configuration.onRemark = onRemark
        return configuration
    }
}

/// A router's clock floor while it runs.
private final class RisingFloor: Sendable {
    private let floor: Mutex<ClockFloor>

    init(_ floor: ClockFloor) { self.floor = Mutex(floor) }

    var value: ClockFloor { floor.withLock { $0 } }

    /// The floor, if what was proven has raised it. That the certificates were issued is true whoever shows them.
    func raised(by evidence: PeerEvidence, at clock: WallTime) -> ClockFloor? {
        floor.withLock { floor in
            let hasRisen = evidence.provenSince.map { floor.raise(to: $0) } ?? false
            return floor.keep(clock) || hasRisen ? floor : nil
        }
    }
}
