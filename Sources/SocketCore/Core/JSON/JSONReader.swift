/// Why bytes are no JSON text, and where: `offset` counts bytes from the start.
public enum JSONError: Error, Equatable, Sendable, CustomStringConvertible {
    /// Something that the grammar doesn't allow there, or the end of the text.
    case unexpected(offset: Int)
    /// A string that is no UTF-8, or an escape that makes no character.
    case badString(offset: Int)
    /// A number too large to be finite.
    case badNumber(offset: Int)
    /// Arrays and objects nested deeper than ``JSONValue/maximumDepth``.
    case tooDeep(offset: Int)

    /// A clause for people; bytes are counted from 1 in it.
    public var description: String {
        switch self {
        case .unexpected(let offset): "byte \(offset + 1) can't stand there"
        case .badString(let offset): "the string at byte \(offset + 1) is no UTF-8"
        case .badNumber(let offset): "the number at byte \(offset + 1) is too large"
        case .tooDeep(let offset): "nested too deep at byte \(offset + 1)"
        }
    }

    /// Where it was noticed, in bytes from the start.
    public var offset: Int {
        switch self {
        case .unexpected(let offset), .badString(let offset), .badNumber(let offset), .tooDeep(let offset): offset
        }
    }
}

extension JSONValue {
    /// Deep enough for any message, shallow enough that reading it can't exhaust a thread's stack.
    public static let maximumDepth = 32

    /// Reads one JSON text: one value, blanks around it, nothing else.
    ///
    /// - Throws: ``JSONError`` with the offset of the first byte that can't be right.
    public static func parse(_ bytes: RawSpan) throws(JSONError) -> JSONValue {
        let outcome = bytes.withUnsafeBytes { raw -> Result<JSONValue, JSONError> in
            var reader = JSONReader(bytes: raw)
            do throws(JSONError) { return .success(try reader.text()) } catch { return .failure(error) }
        }
        return try outcome.get()
    }

    /// ``parse(_:)-(RawSpan)`` for an array.
    ///
    /// - Throws: ``JSONError``.
    public static func parse(_ bytes: [UInt8]) throws(JSONError) -> JSONValue { try parse(bytes.span.bytes) }
}

/// A recursive-descent reader over bytes that outlive it.
private struct JSONReader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    mutating func text() throws(JSONError) -> JSONValue {
        let result = try value(depth: 0)
        skipBlanks()
        guard offset == bytes.count else { throw .unexpected(offset: offset) }
        return result
    }

    private var current: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    private mutating func skipBlanks() {
        while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { offset += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard current == byte else { return false }
        offset += 1
        return true
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipBlanks()
        switch current {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case UInt8(ascii: "-"): return try number()
        case let byte? where isDigit(byte): return try number()
        default: throw .unexpected(offset: offset)
        }
    }

    private mutating func word(_ text: StaticString, _ value: JSONValue) throws(JSONError) -> JSONValue {
        let length = text.utf8CodeUnitCount
        guard offset + length <= bytes.count else { throw .unexpected(offset: bytes.count) }
        for index in 0..<length where bytes[offset + index] != text.utf8Start[index] { throw .unexpected(offset: offset + index) }
        offset += length
        return value
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= JSONValue.maximumDepth else { throw .tooDeep(offset: offset) }
        offset += 1
        var members: [JSONValue.Member] = []
        skipBlanks()
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipBlanks()
            guard current == UInt8(ascii: "\"") else { throw .unexpected(offset: offset) }
            let name = try string()
            skipBlanks()
            guard take(UInt8(ascii: ":")) else { throw .unexpected(offset: offset) }
            members.append(JSONValue.Member(name, try value(depth: depth)))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw .unexpected(offset: offset) }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(JSONError) -> JSONValue {
        guard depth <= JSONValue.maximumDepth else { throw .tooDeep(offset: offset) }
        offset += 1
        var elements: [JSONValue] = []
        skipBlanks()
        if take(UInt8(ascii: "]")) { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            skipBlanks()
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "]")) else { throw .unexpected(offset: offset) }
        return .array(elements)
    }

    private mutating func string() throws(JSONError) -> String {
        let opening = offset
        offset += 1
        var plainStart = offset
        var collected: [UInt8] = []
        while let byte = current {
            if byte == UInt8(ascii: "\"") {
                collected.append(contentsOf: bytes[plainStart..<offset])
                offset += 1
                guard let text = String(validating: collected, as: UTF8.self) else { throw .badString(offset: opening) }
                return text
            }
            guard byte >= 0x20 else { throw .unexpected(offset: offset) }
            offset += 1
            if byte == UInt8(ascii: "\\") {
                collected.append(contentsOf: bytes[plainStart..<offset - 1])
                try escape(into: &collected)
                plainStart = offset
            }
        }
        throw .unexpected(offset: offset)
    }

    private mutating func escape(into collected: inout [UInt8]) throws(JSONError) {
        guard let byte = current else { throw .unexpected(offset: offset) }
        offset += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): collected.append(byte)
        case UInt8(ascii: "b"): collected.append(0x08)
        case UInt8(ascii: "f"): collected.append(0x0C)
        case UInt8(ascii: "n"): collected.append(0x0A)
        case UInt8(ascii: "r"): collected.append(0x0D)
        case UInt8(ascii: "t"): collected.append(0x09)
        case UInt8(ascii: "u"): collected.append(contentsOf: String(try unicodeEscape()).utf8)
        default: throw .unexpected(offset: offset - 1)
        }
    }

    /// The scalar after `\u`, joined from two escapes where it lies beyond the basic plane.
    private mutating func unicodeEscape() throws(JSONError) -> Unicode.Scalar {
        let start = offset - 2
        let first = try fourHexDigits()
        if let scalar = Unicode.Scalar(first) { return scalar }
        guard first < 0xDC00, take(UInt8(ascii: "\\")), take(UInt8(ascii: "u")) else { throw .badString(offset: start) }
        let second = try fourHexDigits()
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + ((first & 0x3FF) << 10) + (second & 0x3FF))
        else { throw .badString(offset: start) }
        return scalar
    }

    private mutating func fourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = current, let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw .unexpected(offset: offset) }
            value = value << 4 | UInt32(digit)
            offset += 1
        }
        return value
    }

    private mutating func number() throws(JSONError) -> JSONValue {
        let start = offset
        let negative = take(UInt8(ascii: "-"))
        guard let first = current, isDigit(first) else { throw .unexpected(offset: offset) }
        if !take(UInt8(ascii: "0")) { skipDigits() }
        var whole = true
        if take(UInt8(ascii: ".")) {
            whole = false
            try requireDigits()
        }
        if take(UInt8(ascii: "e")) || take(UInt8(ascii: "E")) {
            whole = false
            if !take(UInt8(ascii: "+")) { _ = take(UInt8(ascii: "-")) }
            try requireDigits()
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        // "-0" is the one whole number that an integer can't tell from 0.
        if whole, let value = Int64(text), !(negative && value == 0) { return .integer(value) }
        guard let value = Double(text), value.isFinite else { throw .badNumber(offset: start) }
        return .number(value)
    }

    private func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }

    private mutating func skipDigits() {
        while let byte = current, isDigit(byte) { offset += 1 }
    }

    private mutating func requireDigits() throws(JSONError) {
        guard let byte = current, isDigit(byte) else { throw .unexpected(offset: offset) }
        skipDigits()
    }
}
