import SocketCore

/// What a device can do, as it says itself (protocol.md, section 7).
public struct DeviceCapabilities: Equatable, Sendable {
    /// What may be done with a property.
    public struct Access: OptionSet, Hashable, Sendable {
        /// One bit a right.
        public let rawValue: UInt8

        /// Rights by their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `get` tells it.
        public static let read = Access(rawValue: 1)
        /// `set` changes it.
        public static let write = Access(rawValue: 2)
        /// `subscribe` tells its changes.
        public static let notify = Access(rawValue: 4)

        fileprivate static let words: [(String, Access)] = [("read", .read), ("write", .write), ("notify", .notify)]
    }

    /// Far more than any device has; a device that claims more is wrong.
    public static let largestCount = 1_024

    /// Its operations.
    public var operations: Set<String>
    /// Its properties, by name.
    public var properties: [String: Access]
    /// Its streams with their sizes in bytes, by name.
    public var streams: [String: Int]

    /// Capabilities.
    public init(operations: Set<String> = [], properties: [String: Access] = [:], streams: [String: Int] = [:]) {
        self.operations = operations
        self.properties = properties
        self.streams = streams
    }

    /// Reads the answer to `capabilities`; nil when it's none, or longer than ``largestCount``. Words that aren't known are passed over.
    public init?(_ json: JSONValue) {
        guard let properties = json["properties"]?.arrayValue, properties.count <= DeviceCapabilities.largestCount else { return nil }
        self.init(operations: Set((json["ops"]?.arrayValue ?? []).prefix(DeviceCapabilities.largestCount).compactMap(\.stringValue)))
        for property in properties {
            guard let name = property["name"]?.stringValue, let words = property["access"]?.arrayValue else { return nil }
            let given = Set(words.compactMap(\.stringValue))
            self.properties[name] = Access.words.reduce(into: []) { if given.contains($1.0) { $0.insert($1.1) } }
        }
        for stream in (json["streams"]?.arrayValue ?? []).prefix(DeviceCapabilities.largestCount) {
            guard let name = stream["name"]?.stringValue, let size = stream["size"]?.integerValue, size >= 0 else { return nil }
            streams[name] = Int(size)
        }
    }

    /// As ``init(_:)`` reads it, in a settled order.
    public var json: JSONValue {
        let access = { (rights: Access) in JSONValue.array(Access.words.filter { rights.contains($0.1) }.map { .string($0.0) }) }
        return [
            "ops": .array(operations.sorted().map { .string($0) }),
            "properties": .array(properties.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "access": access($0.value)] }),
            "streams": .array(streams.sorted { $0.key < $1.key }.map { ["name": .string($0.key), "size": .integer(Int64($0.value))] }),
        ]
    }

    /// The first thing that a request asks for and this device can't do; nil when it can do all of it.
    public func obstacle(to request: DeviceRequest) -> CommandError? {
        switch request {
        case .get(let names): lacking(.read, names)
        case .set(let values): lacking(.write, values.map(\.name))
        case .subscribe(let names): lacking(.notify, names)
        case .read(let stream, _, _): streams[stream] == nil ? .notPossible(stream, .noStream) : nil
        case .capabilities, .reboot, .unknown: nil
        }
    }

    private func lacking(_ right: Access, _ names: [String]) -> CommandError? {
        for name in names {
            guard let access = properties[name] else { return .notPossible(name, .noProperty) }
            if !access.contains(right) {
                return .notPossible(name, right == .write ? .notWritable : right == .notify ? .notNotifying : .notReadable)
            }
        }
        return nil
    }
}
