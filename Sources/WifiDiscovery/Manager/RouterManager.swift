import Glibc
import SocketCore

/// Why the manager has no router to give.
public enum ManagerError: Error, Sendable, CustomStringConvertible {
    /// Nothing answered; what was tried.
    case nothingFound(ScanResult)
    /// Several answered and nothing tells which one is meant: name one of them.
    case noChoice(ScanResult)
    /// The reference matches several routers.
    case ambiguous(String, [KnownRouter])
    /// The reference names this router, which is known and isn't heard now, neither where it was last nor elsewhere.
    case notAnswering(KnownRouter)
    /// The router that datagrams call by that name gives another one over its proven connection.
    case otherName(String, MACAddress, found: String)
    /// `current` was asked for, and no router is.
    case noCurrent
    /// The reference matches none, known or on the network.
    case unknownRouter(String)
    /// The session didn't open.
    case notOpened(MACAddress, Endpoint, LossReason)
    /// The router doesn't prove to be the company's, or no longer speaks the TLS that it did.
    case notProven(MACAddress, Judgement)
    /// A company root is configured, and none of the routers that answered is the company's.
    case noneProven([RouterVerifier.Finding])
    /// A later wish for another router came before this one was fulfilled.
    case superseded(String)
    /// All of the company's routers were asked for, and no company root is configured.
    case noRoot
    /// Other processes hold all of the router's journals, and none became free in this time.
    case outboxHeld(MACAddress, after: Duration)

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .nothingFound(let result):
            let failed = result.failedInterfaces.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            let probes = result.counters.probes
            return "no router answered \(probes) probe\(probes == 1 ? "" : "s")\(failed.isEmpty ? "" : " (\(failed))"); see wifictl doctor"
        case .noChoice(let result):
            let names = result.routers.map { "\($0.name) \($0.mac)" }.joined(separator: ", ")
            return "\(result.routers.count) routers answered and nothing tells which one you are connected to: name one of \(names)"
        case .ambiguous(let text, let routers):
            return "\(text) fits \(routers.map { "\($0.router.mac)" }.joined(separator: " and ")): name one by its MAC"
        case .notAnswering(let known):
            let name = known.router.name.isEmpty ? "\(known.router.mac)" : "\(known.router.name) (\(known.router.mac))"
            let when = known.lastSeen.map { ", \($0)" } ?? ""
            return "\(name) is known (last seen at \(known.address) on \(known.interface)\(when)) but doesn't answer: is it on, and this "
                + "machine in its network? wifictl discover shows who answers; wifictl send keeps messages for it"
        case .otherName(let name, let mac, let found):
            return "\(mac) is called \(found.isEmpty ? "nothing" : found) by its own word, and somebody answers for it as \(name): "
                + "name the router that is meant by its MAC"
        case .noCurrent: return "no router is the current one yet (send to one or switch to one first)"
        case .unknownRouter(let text): return "no router called \(text) is known or answers (see wifictl discover)"
        case .notProven(let mac, let judgement):
            return "\(mac) isn't used, since it doesn't prove whose it is: \(judgement.detail)"
        case .noneProven(let findings):
            let list = findings.prefix(4).map { "\($0.subject.mac) \($0.judgement.verdict.name): \($0.judgement.detail)" }
            return "none of the \(findings.count) routers that answered is the company's (\(list.joined(separator: "; ")))"
        case .superseded(let text): return "the switch to \(text) gave way to a later one"
        case .noRoot: return "no company root is configured, so nobody is known to be the company's (see RouterTrust)"
        case .outboxHeld(let mac, let time):
            return "others hold all \(OutboxStore.slots) journals of \(mac), and none became free within \(time): nothing was accepted "
                + "(wait for them to end, or have one agent talk to it: wifictl agent start)"
        case .notOpened(let mac, let endpoint, let reason): return "no session with \(mac) at \(endpoint): \(reason)"
        }
    }
}

/// The layer that an app is written against: finds the router, opens the session, moves to another one.
///
///     let manager = try RouterManager(trust: .company(root: "company-root.pem"))
///     let router = try await manager.connect()
///     print(try await router.get("wifi.ssid"))
///     try await manager.switch(to: "02:00:5e:00:53:02")
public actor RouterManager {
    /// How it looks and talks.
    public struct Options: Sendable {
        /// How it looks.
        public var discovery = RouterDiscovery.Options()
        /// How long it looks.
        public var scanTime = Duration.seconds(3)
        /// How its sessions are.
        public var session = SessionConfiguration(role: .controller)
        /// Where routers, sessions and unfinished messages are kept; nil keeps nothing.
        public var home: String?
        /// What happens where state is kept and other processes hold all journals of a router.
        public var whenOutboxHeld = OutboxStore.WhenAllHeld.wait(atMost: .seconds(10))
        /// Whether ``RouterManager/connect(to:)`` makes its router the current one; false: only where there is none yet.
        public var connectingMovesCurrent = true
        /// Whom it trusts. Once a company root is configured, only routers that prove to be the company's are selected and talked to.
        public var trust = RouterTrust()
        /// The exception: a router that the caller names is talked to whatever its verdict. Never holds for ``RouterManager/connect()``.
        public var allowsUnproven = false
        /// Whether the sessions with routers that were current before are kept in memory for a return; without, they're closed, and go on
        /// from their journals where state is kept.
        public var keepsSessions = true
        /// What happens when commands to the current router time out.
        public var failover = FailoverCore.Settings()
        /// How commands are written for devices of different age.
        public var encodings = CommandEncodings.sample
        /// When commands are sent again.
        public var commands = CommandSchedule()
        /// When status reports are told.
        public var status = StatusBoard.Timing()
        /// How long the steps of a switch may take.
        public var switching = SwitchCore.Timing()

        /// Everything by default.
        public init() {}
    }

    /// How it looks and talks.
    public nonisolated let options: Options
    let loop: EventLoop
    let onEvent: @Sendable (SessionSource, SessionEvent) -> Void
    let onRemark: @Sendable (String) -> Void
    let journalRemarks: ToldOnce
    /// The connection in use.
    public internal(set) var current: RouterConnection?
    let hub: StatusHub
    let capabilities: CapabilityStore
    var failover: FailoverWatch?
    /// All connections that are made and not closed yet, one a router: see ``borrow(_:exception:)``.
    var held: [MACAddress: HeldConnection] = [:]
    /// Routers whose connections are on their way out: they get no other one before.
    var departing: [MACAddress: Departure] = [:]
    /// Counts the times that a router was left.
    var departures: UInt64 = 0
    var switching: RunningSwitch?
    /// Goes on with what other processes have left for the router that was restored, and the session that it does so with now.
    var settling: Task<Void, Never>?
    var leftover: Session?
    /// The wish that counts.
    var newestWish: SwitchWish?
    /// Properties that status subscribers want of whichever router is current.
    var followedNames: Set<String> = []
    var sightings = RouterSightings()
    /// How many wait for one of a router's journals.
    var journalWaiters: [MACAddress: Int] = [:]
    /// Between ``suspend()`` and ``resume()``.
    public internal(set) var isSuspended = false
    /// What routers have said in sessions about whether they serve this station.
    var stationAnswers: [MACAddress: StationAnswer] = [:]

    /// A manager without router.
    ///
    /// - Parameters:
    ///   - options: where and how it looks and remembers.
    ///   - loop: where its sessions run.
    ///   - onEvent: what sessions tell, each named by its source, for logs; called on the loop's thread.
    ///   - onRemark: what wasn't as it should be with the kept state.
    public init(
        _ options: Options = Options(), loop: EventLoop = .shared,
        onEvent: @escaping @Sendable (SessionSource, SessionEvent) -> Void = { _, _ in },
        onRemark: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.options = options
        self.loop = loop
        self.onEvent = onEvent
        self.onRemark = onRemark
        journalRemarks = ToldOnce(onRemark)
        hub = StatusHub(loop: loop, timing: options.status)
        capabilities = CapabilityStore(home: options.home, onRemark: onRemark)
    }

    /// A manager that trusts as given, and else does what a manager does by default.
    public init(trust: RouterTrust, home: String? = nil) {
        var options = Options()
        options.trust = trust
        options.home = home
        self.init(options)
    }

    // MARK: Connecting

    /// Finds the router that the user is connected to and opens its session.
    ///
    /// - Throws: ``ManagerError``, ``DiscoveryError``.
    @discardableResult
    public func connect() async throws -> RouterConnection {
        var discovery = looking
        // Where proof is wanted, the first who claims to be the one mustn't end the search.
        discovery.endsAtMatch = !options.trust.hasRoot
        let result = judgedByStation(try await RouterDiscovery(discovery, loop: loop).scan(for: options.scanTime))
        try remember(result)
        guard !result.routers.isEmpty else { throw ManagerError.nothingFound(result) }
        guard let target = try await choose(among: result) else { throw ManagerError.noChoice(result) }
        return try await connect(target, exception: false)
    }

    /// Opens a session with the router that is named: a MAC in any spelling, a name, `address[:port]`, or `current`.
    ///
    /// - Throws: ``ManagerError``, ``DiscoveryError``.
    @discardableResult
    public func connect(to reference: String) async throws -> RouterConnection {
        let target = try await locate(reference)
        return try await connect(target, exception: options.allowsUnproven)
    }

    private func connect(_ target: SwitchCore.Target, exception: Bool) async throws -> RouterConnection {
        let connection = try await borrow(target, exception: exception)
        do { noteStation(try await connection.open(), of: target.mac) } catch {
            await release(connection)
            throw ManagerError.notOpened(target.mac, target.session, error)
        }
        if current !== connection { await adopt(connection, moves: options.connectingMovesCurrent) }
        await release(connection)
        return connection
    }

    /// A session with that router stands, or stood last: keeps what it said of itself, and which router is the current one.
    ///
    /// - Parameters:
    ///   - mac: whose session.
    ///   - opening: what came of its last hello.
    ///   - moves: whether it becomes the current one; without, only where there is none.
    public func keepCurrent(_ mac: MACAddress, opening: SessionOpening? = nil, moves: Bool) {
        do {
            if let hello = opening?.router {
                try keepHello(hello, of: mac, isProven: !options.allowsUnproven && wantsProof(of: mac))
            }
        } catch {
            onRemark("what \(mac) says of itself isn't kept: \(error)")
        }
        do {
            try directory?.update { if moves || $0.current == nil { $0.setCurrent(mac) } }
        } catch {
            onRemark("the current router isn't kept: \(error)")
        }
    }

    /// Closes all sessions; what is unsettled stays for the next run. Subscriptions end.
    public func close() async {
        switching?.task.cancel()
        await endSettling()
        await failover?.end()
        failover = nil
        current = nil
        await withDiscardingTaskGroup { group in
            for one in held.values { group.addTask { await self.retire(one.connection) } }
        }
        for mac in departing.keys { await departed(mac) }
        await hub.end()
    }

    var directory: RouterDirectory? { options.home.map { RouterDirectory(home: $0) } }

    /// How to look: a flood of forged replies doesn't drive out who was proven before.
    var looking: RouterDiscovery.Options {
        var discovery = options.discovery
        // A state that can't be read is told where it's needed; a scan works without it.
        if let home = options.home, let trust = try? TrustState(home: home).load() { discovery.expected.formUnion(trust.memory.proven) }
        return discovery
    }

    func remember(_ result: ScanResult) throws {
        let now = SystemCalls.monotonicNow()
        sightings.note(result.routers, now: now, date: .systemNow())
        // Where a root is configured, who proves to be the company's is kept, or who is named as the exception.
        if !options.trust.hasRoot { try directory?.merge(result.routers, now: now) }
    }
}
