/// Why a body is no hello (protocol.md, section 3). The peer's fault.
public enum HelloError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The body is longer than a hello may be.
    case tooLong(bytes: Int, limit: Int)
    /// The frame has an id, or no body.
    case notAHello
    /// The body is no JSON.
    case notJSON(JSONError)
    /// A key is missing or holds something else than it must.
    case badKey(String)
    /// The router's hello belongs to another session.
    case wrongSession(SessionIdentifier)
    /// The router chose a version that wasn't offered.
    case wrongVersion(UInt16)

    /// A clause for people.
    public var description: String {
        switch self {
        case .tooLong(let bytes, let limit): "\(bytes) bytes where \(limit) are allowed"
        case .notAHello: "it's another kind of frame"
        case .notJSON(let error): "its body is no JSON (\(error))"
        case .badKey(let key): "\"\(key)\" is missing or ill-typed"
        case .wrongSession(let session): "it names session \(session), which isn't ours"
        case .wrongVersion(let version): "it chooses version \(version), which wasn't offered"
        }
    }
}

/// The controller's first frame.
///
///     key       required  type
///     session   yes       32 hex digits
///     versions  yes       array of 1...65535, not empty
///     received  yes       0...4294967295
///     resume    yes       true or false
///     client    no        string
///     station   no        string
public struct ControllerHello: Equatable, Sendable {
    /// Which session.
    public var session: SessionIdentifier
    /// Versions that the controller speaks.
    public var versions: [UInt16]
    /// The highest id up to which its application took everything.
    public var received: UInt32
    /// Whether the session has stood before.
    public var resume: Bool
    /// The controller's name.
    public var client: String?
    /// Its own Wi-Fi MAC.
    public var station: String?

    /// A hello.
    public init(
        session: SessionIdentifier, versions: [UInt16], received: UInt32, resume: Bool, client: String? = nil, station: String? = nil
    ) {
        self.session = session
        self.versions = versions
        self.received = received
        self.resume = resume
        self.client = client
        self.station = station
    }

    /// Reads a hello's body.
    ///
    /// - Throws: ``HelloError``.
    public init(_ body: RawSpan) throws(HelloError) {
        let hello = HelloKeys(try HelloKeys.root(body, "hello"))
        session = try hello.session()
        versions = try hello.versions("versions")
        received = try hello.identifier("received")
        resume = try hello.flag("resume")
        client = hello.optionalText("client")
        station = hello.optionalText("station")
    }

    /// The frame's body.
    public func encoded() -> [UInt8] {
        var keys: [JSONValue.Member] = [
            .init("session", .string(session.description)), .init("versions", .array(versions.map { .integer(Int64($0)) })),
            .init("received", .integer(Int64(received))),
        ]
        if let client { keys.append(.init("client", .string(client))) }
        keys.append(.init("resume", .bool(resume)))
        if let station { keys.append(.init("station", .string(station))) }
        return JSONValue.object([.init("hello", .object(keys))]).encoded()
    }
}

/// The router's first frame.
///
///     key              required  type
///     session, boot    yes       32 and 16 hex digits
///     version          yes       1...65535
///     received         yes       0...4294967295
///     resumed          yes       true or false
///     mac              yes       string
///     name, model, firmware  no  string
///     children         no        array of strings, at most 16 are read
///     sees             no        {"station": true or false, "via": string, optional}
public struct RouterHello: Equatable, Sendable {
    /// Whether, and where, the router sees the controller's Wi-Fi MAC.
    public struct Sees: Equatable, Sendable {
        /// It does.
        public var station: Bool
        /// The radio's BSSID, the child's MAC or the wired port.
        public var via: String?

        /// An answer.
        public init(station: Bool, via: String? = nil) {
            self.station = station
            self.via = via
        }
    }

    /// Which session.
    public var session: SessionIdentifier
    /// Who the router is.
    public var identity: RouterIdentity
    /// The version of all further frames.
    public var version: UInt16
    /// The highest id up to which its application took everything.
    public var received: UInt32
    /// Whether it still has the session's memory.
    public var resumed: Bool
    /// The answer to the controller's `station`.
    public var sees: Sees?

    /// A hello.
    public init(
        session: SessionIdentifier, identity: RouterIdentity, version: UInt16, received: UInt32, resumed: Bool, sees: Sees? = nil
    ) {
        self.session = session
        self.identity = identity
        self.version = version
        self.received = received
        self.resumed = resumed
        self.sees = sees
    }

    /// Reads a hello's body.
    ///
    /// - Throws: ``HelloError``.
    public init(_ body: RawSpan) throws(HelloError) {
        try self.init(HelloKeys(HelloKeys.root(body, "hello")))
    }

    init(_ hello: HelloKeys) throws(HelloError) {
        session = try hello.session()
        identity = RouterIdentity(
            boot: try hello.boot(), mac: try hello.text("mac"), name: hello.optionalText("name"),
            model: hello.optionalText("model"), firmware: hello.optionalText("firmware"),
            children: (hello.object["children"]?.arrayValue ?? []).compactMap(\.stringValue))
        version = try hello.version("version")
        received = try hello.identifier("received")
        resumed = try hello.flag("resumed")
        if let value = hello.object["sees"], let station = value["station"]?.boolValue {
            sees = Sees(station: station, via: HelloKeys(value).optionalText("via"))
        }
    }

    /// The frame's body.
    public func encoded() -> [UInt8] {
        var keys: [JSONValue.Member] = [
            .init("session", .string(session.description)), .init("boot", .string(identity.boot)),
            .init("version", .integer(Int64(version))), .init("received", .integer(Int64(received))), .init("resumed", .bool(resumed)),
            .init("mac", .string(identity.mac)),
        ]
        if let name = identity.name { keys.append(.init("name", .string(name))) }
        if let model = identity.model { keys.append(.init("model", .string(model))) }
        if let firmware = identity.firmware { keys.append(.init("firmware", .string(firmware))) }
        if !identity.children.isEmpty { keys.append(.init("children", .array(identity.children.map { .string($0) }))) }
        if let sees {
            var seen: [JSONValue.Member] = [.init("station", .bool(sees.station))]
            if let via = sees.via { seen.append(.init("via", .string(via))) }
            keys.append(.init("sees", .object(seen)))
        }
        return JSONValue.object([.init("hello", .object(keys))]).encoded()
    }
}
