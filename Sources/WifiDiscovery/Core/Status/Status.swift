import SocketCore

/// Kinds of news, to choose from: nobody gets what wasn't asked for.
public struct StatusKinds: OptionSet, Hashable, Sendable {
    /// One bit a kind.
    public let rawValue: UInt8

    /// Kinds by their bits.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Properties of routers; which ones, their names say.
    public static let properties = StatusKinds(rawValue: 1)
    /// Whether the session with a router stands.
    public static let sessions = StatusKinds(rawValue: 2)
    /// Which router is the current one.
    public static let current = StatusKinds(rawValue: 4)
    /// What was noticed about a bad link, and what was proposed or done about it.
    public static let failover = StatusKinds(rawValue: 8)
    /// Routers that come, go and change.
    public static let routers = StatusKinds(rawValue: 16)
}

/// What a piece of news is about, beside its router.
public enum StatusSubject: Hashable, Sendable {
    /// A property by its name.
    case property(String)
    /// The session with it.
    case session
    /// Whether it is the current router.
    case current
    /// Fail-over away from it.
    case failover
    /// Whether it's there.
    case presence

    /// Its kind.
    public var kind: StatusKinds {
        switch self {
        case .property: .properties
        case .session: .sessions
        case .current: .current
        case .failover: .failover
        case .presence: .routers
        }
    }
}

/// How a session stands.
public enum SessionStanding: Equatable, Sendable {
    /// It stands: messages flow.
    case online
    /// Its connection is gone, for longer than a moment; it's being dialled.
    case offline
    /// Given up for now: the app is in the background, or another router is the current one. It goes on when it's wanted again.
    case suspended
    /// Over for good.
    case closed(LossReason)
}

/// The news itself.
public enum StatusValue: Equatable, Sendable {
    /// A property's value.
    case property(JSONValue)
    /// A session's standing.
    case session(SessionStanding)
    /// Whether the router is the current one.
    case current(Bool)
    /// See ``FailoverNotice``.
    case failover(FailoverNotice)
    /// Where the router is known to be, or not to be.
    case presence(ListedRouter.Standing)
}

/// One thing that has one value at a time.
public struct StatusKey: Hashable, Sendable {
    /// Whose.
    public var router: MACAddress
    /// Which of its.
    public var subject: StatusSubject

    /// A key.
    public init(_ router: MACAddress, _ subject: StatusSubject) {
        self.router = router
        self.subject = subject
    }
}

/// One change.
public struct StatusItem: Equatable, Sendable {
    /// Of what.
    public var key: StatusKey
    /// To what.
    public var value: StatusValue

    /// A change.
    public init(_ key: StatusKey, _ value: StatusValue) {
        self.key = key
        self.value = value
    }
}

/// Changes that are told together: at most one a key, in the order in which they began.
public struct StatusBatch: Equatable, Sendable {
    /// The changes; never none.
    public var items: [StatusItem]

    /// A batch.
    public init(_ items: [StatusItem]) { self.items = items }

    /// What a property of a router has become; nil when this batch says nothing of it.
    public func property(_ name: String, of router: MACAddress) -> JSONValue? {
        let key = StatusKey(router, .property(name))
        guard case .property(let value)? = items.last(where: { $0.key == key })?.value else { return nil }
        return value
    }
}

/// What a subscriber wants.
public struct StatusFilter: Equatable, Sendable {
    /// These kinds.
    public var kinds: StatusKinds
    /// Of properties, these alone.
    public var names: Set<String>
    /// Of these routers; nil for all.
    public var routers: Set<MACAddress>?

    /// Kinds; for properties their names as well.
    public init(_ kinds: StatusKinds, names: Set<String> = [], routers: Set<MACAddress>? = nil) {
        self.kinds = kinds
        self.names = names
        self.routers = routers
    }

    /// Whether this is wanted.
    public func wants(_ key: StatusKey) -> Bool {
        guard kinds.contains(key.subject.kind), routers?.contains(key.router) ?? true else { return false }
        if case .property(let name) = key.subject { return names.contains(name) }
        return true
    }
}
