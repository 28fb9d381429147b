import SocketCore

/// Why a written directory can't be read.
public enum DirectoryError: Error, Equatable, Sendable {
    /// No JSON.
    case notJSON(JSONError)
    /// JSON, but no directory.
    case notADirectory
    /// Written by a later version of this product, in a format that this one doesn't know.
    case newerFormat(Int64)
}

extension DirectoryError: CustomStringConvertible {
    /// What is wrong, for people.
    public var description: String {
        switch self {
        case .notJSON(let error): "the list of known routers is damaged: \(error)"
        case .notADirectory: "the file holds no list of known routers"
        case .newerFormat(let format): "the list of known routers was written by a newer version (format \(format))"
        }
    }
}

extension DirectoryCore {
    /// Raised when the old reader could misunderstand what is written.
    private static let format: Int64 = 1

    /// Everything that outlives the process.
    public var json: JSONValue {
        let list = routers.values.sorted { $0.router.mac < $1.router.mac }.map(\.json)
        return .object([
            .init("format", .integer(DirectoryCore.format)), .init("current", current.map { .string($0.description) } ?? .null),
            .init("routers", .array(list)),
        ])
    }

    /// Reads what ``json`` wrote. An entry that can't be read is left out: one damaged line must not cost all the others.
    ///
    /// - Throws: ``DirectoryError``.
    public init(json: JSONValue) throws(DirectoryError) {
        guard let format = json["format"]?.integerValue, let list = json["routers"]?.arrayValue else { throw .notADirectory }
        guard format <= DirectoryCore.format else { throw .newerFormat(format) }
        self.init(routers: list.compactMap(KnownRouter.init(json:)), current: json["current"]?.stringValue.flatMap { MACAddress($0) })
    }

    /// ``init(json:)`` from text.
    ///
    /// - Throws: ``DirectoryError``.
    public init(bytes: [UInt8]) throws(DirectoryError) {
        let json: JSONValue
        do throws(JSONError) { json = try JSONValue.parse(bytes) } catch { throw .notJSON(error) }
        try self.init(json: json)
    }
}

extension KnownRouter {
    /// The entry as it is kept.
    var json: JSONValue {
        .object(
            router.members + [
                .init("address", .string(address.description)), .init("interface", .string(interface)),
                .init("confirmed", .bool(isConfirmed)),
                .init("hasSpokenTLS", .bool(hasSpokenTLS)), .init("heard", .integer(Int64(heardOrder))),
                .init("provenName", provenName.map { .string($0) } ?? .null),
                .init("lastSeen", lastSeen.map { .integer($0.seconds) } ?? .null),
            ])
    }

    /// Reads an entry; nil when it lacks what makes a router.
    init?(json: JSONValue) {
        guard let address = json["address"]?.stringValue.flatMap({ IPAddress($0) }),
            let router = try? RouterDescription(json)
        else { return nil }
        self.init(
            router: router, address: address,
            interface: DisplayText.clean(json["interface"]?.stringValue ?? "", limit: DisplayText.maximumNameBytes),
            isConfirmed: json["confirmed"]?.boolValue ?? false, hasSpokenTLS: json["hasSpokenTLS"]?.boolValue ?? false,
            heardOrder: json["heard"]?.integerValue.flatMap { Int(exactly: $0) } ?? 0,
            lastSeen: json["lastSeen"]?.integerValue.map(WallTime.init(seconds:)),
            provenName: json["provenName"]?.stringValue.map { DisplayText.clean($0, limit: DisplayText.maximumNameBytes) })
    }
}
