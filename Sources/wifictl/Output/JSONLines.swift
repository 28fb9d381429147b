import SocketCore

extension Output {
    /// Prints one JSON line: `"type"` first, then `members` in the order written. Call it when `isJSON`.
    ///
    ///     output.json("outcome", ["msgId": .whole(id), "outcome": "delivered", "ms": .milliseconds(elapsed)])
    func json(_ type: String, _ members: KeyValuePairs<String, JSONValue> = [:]) {
        json(type, members.map { JSONValue.Member($0.key, $0.value) })
    }

    /// The same for members that were put together in steps.
    func json(_ type: String, _ members: [JSONValue.Member]) {
        var line: [UInt8] = []
        JSONValue.object([JSONValue.Member("type", .string(type))] + members).write(to: &line)
        line.append(UInt8(ascii: "\n"))
        bytes(line)
    }
}

extension JSONValue {
    /// A whole number of any type; one that doesn't fit 64 bits with a sign is written as a string, never rounded.
    static func whole(_ number: some BinaryInteger) -> JSONValue {
        Int64(exactly: number).map { .integer($0) } ?? .string(String(number))
    }

    /// Text, or null when there is none.
    static func text(_ text: String?) -> JSONValue { text.map { .string($0) } ?? .null }

    /// A whole number, or null when there is none.
    static func whole(_ number: (some BinaryInteger)?) -> JSONValue { number.map { .whole($0) } ?? .null }

    /// Bytes as lower-case hex digits without separators.
    static func hex(_ bytes: some Sequence<UInt8>) -> JSONValue { .string(Hex.text(bytes)) }

    /// A span of time as a number of milliseconds with at most three decimals.
    static func milliseconds(_ span: Duration) -> JSONValue {
        let microseconds = span.components.seconds * 1_000_000 + span.components.attoseconds / 1_000_000_000_000
        return microseconds % 1_000 == 0 ? .integer(microseconds / 1_000) : .number(Double(microseconds) / 1_000)
    }
}
