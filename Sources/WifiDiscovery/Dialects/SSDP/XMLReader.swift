/// A small reader for the XML of device descriptions: elements, text, CDATA and references to characters.
///
/// What a document type declaration could bring (entities that grow, other files) is refused outright; size, depth and number of
/// elements are bounded. It is lenient in what can't do harm, since many devices write XML by hand: attributes aren't looked at,
/// and namespace prefixes are cut off.
struct XMLReader {
    enum Failure: Error, Equatable, CustomStringConvertible {
        /// Not well-formed; where in bytes.
        case malformed(offset: Int)
        /// A document type declaration.
        case declaresType
        /// More than ``maximumDepth``, ``maximumElements`` or ``maximumLength`` allow.
        case tooLarge

        var description: String {
            switch self {
            case .malformed(let offset): "it's no well-formed XML (byte \(offset + 1))"
            case .declaresType: "it declares a document type, which isn't read"
            case .tooLarge: "it's larger, or nested deeper, than a device's description"
            }
        }
    }

    enum Event: Equatable {
        case open(String)
        case text(String)
        case close
    }

    /// As much as a description may have.
    static let maximumLength = HTTPAnswer.maximumBody
    /// Gateways nest devices three deep, each in a list, with services in lists below.
    static let maximumDepth = 32
    /// A description's elements are hundreds.
    static let maximumElements = 4_096
    /// A name longer than that is none of those looked for.
    private static let maximumName = 128
    /// A reference such as `&#x10FFFF;`.
    private static let maximumReference = 10

    private let bytes: [UInt8]
    private var position = 0
    private var open: [String] = []
    private var elements = 0
    private var pendingClose = false

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The next event; nil at the end of the document.
    mutating func next() throws(Failure) -> Event? {
        guard bytes.count <= XMLReader.maximumLength else { throw .tooLarge }
        if pendingClose {
            pendingClose = false
            return close()
        }
        while position < bytes.count {
            guard bytes[position] == 0x3C else {
                if let text = try text() { return .text(text) }
                continue
            }
            if starts("<!--") {
                try skip(past: "-->")
            } else if starts("<![CDATA[") {
                position += 9
                let start = position
                try skip(past: "]]>")
                return .text(String(decoding: bytes[start..<position - 3], as: UTF8.self))
            } else if starts("<?") {
                try skip(past: "?>")
            } else if starts("<!") {
                throw .declaresType
            } else if starts("</") {
                return try closingTag()
            } else {
                return try openingTag()
            }
        }
        guard open.isEmpty else { throw .malformed(offset: position) }
        return nil
    }

    private mutating func close() -> Event {
        open.removeLast()
        return .close
    }

    private mutating func openingTag() throws(Failure) -> Event {
        let start = position
        position += 1
        let name = try name()
        // Quoted values may hold the sign that ends a tag.
        var quote: UInt8?
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
            } else if byte == 0x22 || byte == 0x27 {
                quote = byte
            } else if byte == 0x3C {
                break
            } else if byte == 0x3E {
                elements += 1
                guard elements <= XMLReader.maximumElements, open.count < XMLReader.maximumDepth else { throw .tooLarge }
                open.append(name)
                pendingClose = bytes[position - 2] == 0x2F
                return .open(name)
            }
        }
        throw .malformed(offset: start)
    }

    private mutating func closingTag() throws(Failure) -> Event {
        let start = position
        position += 2
        let name = try name()
        while position < bytes.count, XMLReader.isSpace(bytes[position]) { position += 1 }
        guard position < bytes.count, bytes[position] == 0x3E, open.last == name else { throw .malformed(offset: start) }
        position += 1
        return close()
    }

    /// A name without its prefix.
    private mutating func name() throws(Failure) -> String {
        let start = position
        while position < bytes.count, XMLReader.isName(bytes[position]) { position += 1 }
        guard position > start, position - start <= XMLReader.maximumName else { throw .malformed(offset: start) }
        let name = bytes[start..<position]
        return String(decoding: name.lastIndex(of: 0x3A).map { name[($0 + 1)...] } ?? name, as: UTF8.self)
    }

    /// Text up to the next tag; nil when it's nothing but space.
    private mutating func text() throws(Failure) -> String? {
        let start = position
        let end = bytes[position...].firstIndex(of: 0x3C) ?? bytes.count
        position = end
        guard bytes[start..<end].contains(where: { !XMLReader.isSpace($0) }) else { return nil }
        // Behind the root, and before it, only a byte order mark is tolerated.
        if open.isEmpty {
            guard bytes[start..<end].elementsEqual([0xEF, 0xBB, 0xBF]) else { throw .malformed(offset: start) }
            return nil
        }
        var decoded: [UInt8] = []
        var index = start
        while index < end {
            if bytes[index] == 0x26, let (character, length) = XMLReader.reference(bytes[index..<end]) {
                decoded += Array(String(character).utf8)
                index += length
            } else {
                decoded.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: decoded, as: UTF8.self)
    }

    /// A character reference or one of the five entities that XML itself has; everything else stays as it stands.
    private static func reference(_ bytes: ArraySlice<UInt8>) -> (Character, length: Int)? {
        guard let end = bytes.prefix(maximumReference + 2).firstIndex(of: 0x3B) else { return nil }
        let name = String(decoding: bytes[(bytes.startIndex + 1)..<end], as: UTF8.self)
        let length = end - bytes.startIndex + 1
        let named: [String: Character] = ["amp": "&", "lt": "<", "gt": ">", "quot": "\"", "apos": "'"]
        if let character = named[name] { return (character, length) }
        guard name.hasPrefix("#") else { return nil }
        let isHex = name.hasPrefix("#x")
        guard let number = UInt32(name.dropFirst(isHex ? 2 : 1), radix: isHex ? 16 : 10), let scalar = Unicode.Scalar(number), number != 0
        else { return nil }
        return (Character(scalar), length)
    }

    private func starts(_ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[position...].starts(with: $0) }
    }

    private mutating func skip(past text: StaticString) throws(Failure) {
        let start = position
        while position < bytes.count {
            if starts(text) {
                position += text.utf8CodeUnitCount
                return
            }
            position += 1
        }
        throw .malformed(offset: start)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D }

    private static func isName(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x3A, 0x2D, 0x2E, 0x5F, 0x80...: true
        default: false
        }
    }
}
