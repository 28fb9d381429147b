import SocketCore

/// A router's application in the sample vocabulary: a few properties, a log to read, subscriptions (protocol.md, section 7).
///
/// Order of use: ``receive(_:msgId:from:)`` for each message that its sessions deliver; send what comes out; after
/// ``Step/reboots`` start everything anew.
public struct SampleDevice: Sendable {
    /// What one message leads to.
    public struct Step: Equatable, Sendable {
        /// Messages to send, each to its session.
        public var messages: [(to: SessionIdentifier, body: [UInt8])] = []
        /// Whether the device reboots once the messages have left.
        public var reboots = false

        /// Equal when the same goes to the same sessions.
        public static func == (left: Step, right: Step) -> Bool {
            left.reboots == right.reboots && left.messages.count == right.messages.count
                && zip(left.messages, right.messages).allSatisfy { $0.to == $1.to && $0.body == $1.body }
        }
    }

    /// One property and what may be done with it.
    public struct Property: Equatable, Sendable {
        /// Its value.
        public var value: JSONValue
        /// Whether `set` may change it.
        public var isWritable: Bool

        /// A property.
        public init(_ value: JSONValue, isWritable: Bool = true) {
            self.value = value
            self.isWritable = isWritable
        }
    }

    /// Sessions that are told of changes; more than any test fleet has, few enough to be nothing.
    static let largestSubscriberCount = 1_024
    /// A piece of a stream; base64 of it stays far below a frame's limit.
    static let largestPiece = 64 << 10

    /// The device's MAC in lower-case colon form.
    public let mac: String
    /// In the order in which they're listed.
    public private(set) var properties: [(name: String, property: Property)]
    /// The names of what can be read in pieces.
    public var streamNames: [String] { streams.map(\.name) }
    private let streams: [(name: String, data: [UInt8])]
    private var subscriptions: [SessionIdentifier: Set<String>] = [:]

    /// A device with a Wi-Fi name, a client count, a lamp and a log of 5,120 bytes.
    public init(mac: String, ssid: String) {
        self.mac = mac
        properties = [
            ("wifi.ssid", Property(.string(ssid))), ("clients", Property(0, isWritable: false)), ("led", Property(true)),
        ]
        streams = [("log", (0..<5_120).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 13) })]
    }

    /// Handles one message. Bodies that are no request are opaque: nothing comes of them.
    public mutating func receive(_ body: [UInt8], msgId: UInt32, from session: SessionIdentifier) -> Step {
        guard let request = DeviceRequest(body) else { return Step() }
        var step = Step()
        let result = perform(request, from: session, &step)
        step.messages.append((session, DeviceReply.answer(to: msgId, result).encoded()))
        return step
    }

    /// Changes a property from within, such as the client count.
    public mutating func change(_ name: String, to value: JSONValue) -> Step {
        var step = Step()
        update([JSONValue.Member(name, value)], &step)
        return step
    }

    /// Forgets a session that is gone for good.
    public mutating func forget(_ session: SessionIdentifier) { subscriptions[session] = nil }

    private mutating func perform(
        _ request: DeviceRequest, from session: SessionIdentifier, _ step: inout Step
    ) -> Result<JSONValue, DeviceFault> {
        switch request {
        case .capabilities: return .success(capabilities)
        case .get(let names): return values(of: names)
        case .set(let values):
            if let fault = fault(inSetting: values) { return .failure(fault) }
            update(values, &step)
            return .success(.object(values))
        case .subscribe(let names):
            let values = values(of: names)
            guard case .success = values else { return values }
            guard subscriptions[session] != nil || subscriptions.count < SampleDevice.largestSubscriberCount else {
                return .failure(DeviceFault(code: "busy", text: "too many subscribers"))
            }
            subscriptions[session, default: []].formUnion(names)
            return values
        case .read(let name, let offset, let count): return piece(of: name, offset, count)
        case .reboot:
            step.reboots = true
            return .success(.object([]))
        case .unknown(let operation): return .failure(DeviceFault(code: "unknownOp", text: "no such op: \(operation)"))
        }
    }

    private var capabilities: JSONValue {
        let access = { (property: Property) -> JSONValue in property.isWritable ? ["read", "write", "notify"] : ["read", "notify"] }
        return [
            "ops": ["capabilities", "get", "set", "subscribe", "read", "reboot"],
            "properties": .array(properties.map { ["name": .string($0.name), "access": access($0.property)] }),
            "streams": .array(streams.map { ["name": .string($0.name), "size": .integer(Int64($0.data.count))] }),
        ]
    }

    private func values(of names: [String]) -> Result<JSONValue, DeviceFault> {
        var members: [JSONValue.Member] = []
        for name in names {
            guard let found = properties.first(where: { $0.name == name }) else { return .failure(unknownProperty(name)) }
            members.append(JSONValue.Member(name, found.property.value))
        }
        return .success(.object(members))
    }

    private func fault(inSetting values: [JSONValue.Member]) -> DeviceFault? {
        for member in values {
            guard let found = properties.first(where: { $0.name == member.name }) else { return unknownProperty(member.name) }
            guard found.property.isWritable else { return DeviceFault(code: "readOnly", text: "\(member.name) can't be written") }
        }
        return nil
    }

    private func unknownProperty(_ name: String) -> DeviceFault {
        DeviceFault(code: "unknownProperty", text: "no such property: \(name)")
    }

    /// Sets values and tells those who asked for them, in a settled order.
    private mutating func update(_ values: [JSONValue.Member], _ step: inout Step) {
        for member in values {
            if let index = properties.firstIndex(where: { $0.name == member.name }) { properties[index].property.value = member.value }
        }
        for (session, names) in subscriptions.sorted(by: { $0.key.description < $1.key.description }) {
            let wanted = values.filter { names.contains($0.name) }
            if !wanted.isEmpty { step.messages.append((session, DeviceReply.changed(mac: mac, values: wanted).encoded())) }
        }
    }

    private func piece(of name: String, _ offset: Int, _ count: Int) -> Result<JSONValue, DeviceFault> {
        guard let stream = streams.first(where: { $0.name == name }) else {
            return .failure(DeviceFault(code: "unknownStream", text: "no such stream: \(name)"))
        }
        let start = min(offset, stream.data.count)
        let end = start + min(count, SampleDevice.largestPiece, stream.data.count - start)
        return .success(StreamPiece(offset: start, total: stream.data.count, data: Array(stream.data[start..<end])).json)
    }
}
