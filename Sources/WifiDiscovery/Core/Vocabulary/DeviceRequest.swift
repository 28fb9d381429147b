import SocketCore

/// A request of the sample vocabulary (protocol.md, section 7).
public enum DeviceRequest: Equatable, Sendable {
    /// What the device can do.
    case capabilities
    /// The values of properties.
    case get(names: [String])
    /// New values for properties.
    case set(values: [JSONValue.Member])
    /// The values of properties now, and news of them from now on.
    case subscribe(names: [String])
    /// A piece of a stream, in bytes.
    case read(stream: String, offset: Int, count: Int)
    /// Start anew.
    case reboot
    /// Something that this vocabulary doesn't have, or an operation with ill-typed arguments.
    case unknown(operation: String)

    /// The message's body.
    public func encoded() -> [UInt8] { json.encoded() }

    private var json: JSONValue {
        switch self {
        case .capabilities: ["op": "capabilities"]
        case .get(let names): ["op": "get", "names": .array(names.map { .string($0) })]
        case .set(let values): ["op": "set", "values": .object(values)]
        case .subscribe(let names): ["op": "subscribe", "names": .array(names.map { .string($0) })]
        case .read(let stream, let offset, let count):
            ["op": "read", "stream": .string(stream), "offset": .integer(Int64(offset)), "count": .integer(Int64(count))]
        case .reboot: ["op": "reboot"]
        case .unknown(let operation): ["op": .string(operation)]
        }
    }

    /// Reads a body; nil for one that is no request: it's opaque then, and no error.
    public init?(_ body: [UInt8]) {
        guard let json = try? JSONValue.parse(body), let operation = json["op"]?.stringValue else { return nil }
        self = DeviceRequest.parse(operation, json) ?? .unknown(operation: operation)
    }

    private static func parse(_ operation: String, _ json: JSONValue) -> DeviceRequest? {
        switch operation {
        case "capabilities": return .capabilities
        case "get": return names(json).map { .get(names: $0) }
        case "set": return json["values"]?.objectValue.map { .set(values: $0) }
        case "subscribe": return names(json).map { .subscribe(names: $0) }
        case "read":
            guard let stream = json["stream"]?.stringValue, let offset = json["offset"]?.integerValue, offset >= 0,
                let count = json["count"]?.integerValue, count >= 0
            else { return nil }
            return .read(stream: stream, offset: Int(clamping: offset), count: Int(clamping: count))
        case "reboot": return .reboot
        default: return nil
        }
    }

    private static func names(_ json: JSONValue) -> [String]? {
        guard let elements = json["names"]?.arrayValue else { return nil }
        let names = elements.compactMap(\.stringValue)
        return names.count == elements.count ? names : nil
    }
}
