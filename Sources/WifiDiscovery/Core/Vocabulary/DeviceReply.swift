import SocketCore

/// Why a device refused a request.
public struct DeviceFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// A word for programs: `unknownOp`, `unknownProperty`, `readOnly`, `unknownStream`.
    public var code: String
    /// A sentence for people.
    public var text: String

    /// A fault.
    public init(code: String, text: String) {
        self.code = code
        self.text = text
    }

    /// `text (code)`.
    public var description: String { "\(text) (\(code))" }
}

/// What a device sends of its own or in answer (protocol.md, section 7).
public enum DeviceReply: Equatable, Sendable {
    /// The answer to the request with that id.
    case answer(to: UInt32, Result<JSONValue, DeviceFault>)
    /// Properties that changed.
    case changed(mac: String, values: [JSONValue.Member])

    /// The message's body.
    public func encoded() -> [UInt8] { json.encoded() }

    private var json: JSONValue {
        switch self {
        case .answer(let id, .success(let value)): ["re": .integer(Int64(id)), "ok": true, "value": value]
        case .answer(let id, .failure(let fault)):
            ["re": .integer(Int64(id)), "ok": false, "error": ["code": .string(fault.code), "text": .string(fault.text)]]
        case .changed(let mac, let values): ["event": "changed", "mac": .string(mac), "values": .object(values)]
        }
    }

    /// Reads a body; nil for one that is neither: it's opaque then, and no error.
    public init?(_ body: [UInt8]) {
        guard let json = try? JSONValue.parse(body) else { return nil }
        if json["event"]?.stringValue == "changed", let mac = json["mac"]?.stringValue, let values = json["values"]?.objectValue {
            self = .changed(mac: mac, values: values)
            return
        }
        guard let id = json["re"]?.integerValue.flatMap({ UInt32(exactly: $0) }), let ok = json["ok"]?.boolValue else { return nil }
        if ok {
            self = .answer(to: id, .success(json["value"] ?? .null))
        } else {
            let error = json["error"] ?? .null
            self = .answer(
                to: id,
                .failure(DeviceFault(code: error["code"]?.stringValue ?? "unspecified", text: error["text"]?.stringValue ?? "")))
        }
    }
}

/// One piece of a stream, as `read` answers it.
public struct StreamPiece: Equatable, Sendable {
    /// Where it begins, in bytes.
    public var offset: Int
    /// The stream's size, in bytes.
    public var total: Int
    /// The bytes; fewer than asked for at the stream's end.
    public var data: [UInt8]

    /// A piece.
    public init(offset: Int, total: Int, data: [UInt8]) {
        self.offset = offset
        self.total = total
        self.data = data
    }

    /// As the answer's value.
    public var json: JSONValue {
        ["offset": .integer(Int64(offset)), "total": .integer(Int64(total)), "data": .string(Base64.encode(data))]
    }

    /// Reads an answer's value; nil when a key is missing, ill-typed or out of range.
    public init?(_ json: JSONValue) {
        guard let offset = json["offset"]?.integerValue, let total = json["total"]?.integerValue,
            let data = json["data"]?.stringValue.flatMap({ Base64.decode($0) }), offset >= 0, total >= 0,
            let end = Optional(offset.addingReportingOverflow(Int64(data.count))), !end.overflow, end.partialValue <= total
        else { return nil }
        self.init(offset: Int(offset), total: Int(total), data: data)
    }
}
