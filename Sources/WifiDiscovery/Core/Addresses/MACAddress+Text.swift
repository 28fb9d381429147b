/// Why a text is no MAC address; the caller's or the sender's fault.
public enum MACAddressError: Error, Equatable, Sendable {
    /// Separated into another number of groups than six (or three dotted quads).
    case groupCount(Int)
    /// A group that is empty or has too many digits; counted from 0.
    case groupLength(group: Int, digits: Int)
    /// More than one kind of separator.
    case mixedSeparators
    /// A character that is neither a hex digit nor a separator; counted from 0 in UTF-8 bytes.
    case notHex(offset: Int)
    /// No separators, and not exactly 12 digits.
    case digitCount(Int)
}

extension MACAddressError: CustomStringConvertible {
    /// What is wrong, for people.
    public var description: String {
        switch self {
        case .groupCount(let count): "\(count) groups where a MAC address has 6 (or 3 dotted quads)"
        case .groupLength(let group, let digits): "group \(group + 1) has \(digits) digits"
        case .mixedSeparators: "different separators in one address"
        case .notHex(let offset): "character \(offset + 1) is no hex digit"
        case .digitCount(let count): "\(count) digits where a MAC address has 12"
        }
    }
}

extension MACAddress: CustomStringConvertible, LosslessStringConvertible {
    /// Reads any accepted spelling; nil for everything else. See ``init(parsing:)``.
    public init?(_ text: String) {
        guard let address = try? MACAddress(parsing: text) else { return nil }
        self = address
    }

    /// Reads colons, dashes, spaces, dotted quads, no separators, upper case, octets without their leading zero, and
    /// colons escaped with a backslash, as `nmcli -t` prints them (protocol.md, section 4).
    ///
    /// - Throws: ``MACAddressError`` for everything else. Whether the address can be a device's is another question:
    ///   see ``isUsableAsDevice`` and ``isPlaceholder``.
    public init(parsing text: some StringProtocol) throws(MACAddressError) {
        var reader = MACTextReader()
        let bytes = Array(text.utf8)
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            if let digit = StaticHex.value(byte) {
                reader.digit(digit)
            } else if byte == UInt8(ascii: "\\"), index + 1 < bytes.count, bytes[index + 1] == UInt8(ascii: ":") {
                try reader.separator(.escapedColon)
                index += 1
            } else if let separator = MACTextReader.Separator(rawValue: byte) {
                try reader.separator(separator)
            } else {
                throw .notHex(offset: index)
            }
            index += 1
        }
        self = try reader.finish()
    }

    /// Lower-case colon form: `02:00:5e:00:53:01`.
    public var description: String {
        let digits = StaticHex.digits
        return String(unsafeUninitializedCapacity: 17) { buffer in
            for index in 0..<6 {
                let value = Int(octet(index))
                buffer[index * 3] = digits[value >> 4]
                buffer[index * 3 + 1] = digits[value & 0xF]
                if index < 5 { buffer[index * 3 + 2] = UInt8(ascii: ":") }
            }
            return 17
        }
    }

    /// A BSSID as a tool or a system prints it: nil when it means "unknown" (empty, `<redacted>`, or a placeholder address).
    ///
    /// - Throws: ``MACAddressError`` for a text that is no address at all.
    public static func bssid(parsing text: some StringProtocol) throws(MACAddressError) -> MACAddress? {
        if text.isEmpty || text == "<redacted>" { return nil }
        let address = try MACAddress(parsing: text)
        return address.isPlaceholder ? nil : address
    }
}

/// Collects digits and groups; knows nothing of characters.
private struct MACTextReader {
    enum Separator: UInt8 {
        case colon = 0x3A
        case dash = 0x2D
        case space = 0x20
        case dot = 0x2E
        /// Two bytes, so it has a value that no byte of UTF-8 has.
        case escapedColon = 0xFF
    }

    private var groups: [(value: UInt64, digits: Int)] = [(0, 0)]
    private var separator: Separator?

    mutating func digit(_ value: UInt64) {
        let last = groups.count - 1
        // Overlong texts are refused by their digit count; the shift just drops bits until then.
        groups[last] = (groups[last].value << 4 | value, groups[last].digits + 1)
    }

    mutating func separator(_ found: Separator) throws(MACAddressError) {
        if let separator, separator != found { throw .mixedSeparators }
        separator = found
        // One more than any valid spelling has is enough to know the error.
        if groups.count <= 8 { groups.append((0, 0)) }
    }

    func finish() throws(MACAddressError) -> MACAddress {
        guard let separator else {
            guard groups[0].digits == 12 else { throw .digitCount(groups[0].digits) }
            return MACAddress(bits: groups[0].value)
        }
        let (count, digits, width) = separator == .dot ? (3, 4...4, UInt64(16)) : (6, 1...2, UInt64(8))
        guard groups.count == count else { throw .groupCount(groups.count) }
        var bits: UInt64 = 0
        for (index, group) in groups.enumerated() {
            guard digits.contains(group.digits) else { throw .groupLength(group: index, digits: group.digits) }
            bits = bits << width | group.value
        }
        return MACAddress(bits: bits)
    }
}
