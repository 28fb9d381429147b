/// Reads the keys of a hello, each with its check.
struct HelloKeys {
    let object: JSONValue

    init(_ object: JSONValue) { self.object = object }

    /// The object under `name` of a first frame's body.
    static func root(_ body: RawSpan, _ name: String) throws(HelloError) -> JSONValue {
        let value = try parse(body)
        guard let root = value[name], root.objectValue != nil else { throw .badKey(name) }
        return root
    }

    static func parse(_ body: RawSpan) throws(HelloError) -> JSONValue {
        guard body.byteCount <= SessionLimits.helloBytes else {
            throw .tooLong(bytes: body.byteCount, limit: SessionLimits.helloBytes)
        }
        do throws(JSONError) { return try JSONValue.parse(body) } catch { throw .notJSON(error) }
    }

    func text(_ key: String) throws(HelloError) -> String {
        guard let text = object[key]?.stringValue else { throw .badKey(key) }
        return text
    }

    /// Nil also where something else than text stands: only a required key that is ill-typed spoils a hello.
    func optionalText(_ key: String) -> String? { object[key]?.stringValue }

    func flag(_ key: String) throws(HelloError) -> Bool {
        guard let flag = object[key]?.boolValue else { throw .badKey(key) }
        return flag
    }

    func identifier(_ key: String) throws(HelloError) -> UInt32 {
        guard let number = object[key]?.integerValue, let value = UInt32(exactly: number) else { throw .badKey(key) }
        return value
    }

    func version(_ key: String) throws(HelloError) -> UInt16 {
        guard let number = object[key]?.integerValue, let value = UInt16(exactly: number), value > 0 else { throw .badKey(key) }
        return value
    }

    func versions(_ key: String) throws(HelloError) -> [UInt16] {
        guard let elements = object[key]?.arrayValue, !elements.isEmpty else { throw .badKey(key) }
        var versions: [UInt16] = []
        for element in elements {
            guard let number = element.integerValue, let value = UInt16(exactly: number), value > 0 else { throw .badKey(key) }
            versions.append(value)
        }
        return versions
    }

    func session() throws(HelloError) -> SessionIdentifier {
        guard let session = SessionIdentifier(try text("session")) else { throw .badKey("session") }
        return session
    }

    func boot() throws(HelloError) -> String {
        let boot = try text("boot")
        guard boot.utf8.count == 16, HexText.isHex(boot) else { throw .badKey("boot") }
        return boot
    }
}
