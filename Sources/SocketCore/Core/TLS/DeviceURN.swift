/// A device name by RFC 9039 of the `org` kind: `urn:dev:org:<PEN>-<identifier>[:<identifier>…][_<component>…]`.
///
/// Grammar (RFC 9039, section 3.2), for what is read here:
///
/// | part | rule |
/// |---|---|
/// | `urn:dev:` | case of these letters doesn't matter (RFC 8141, section 3.1) |
/// | `org:` | exactly so |
/// | PEN | a positive number without leading zeros (an IANA private enterprise number) |
/// | identifier, component | one or more of letters, digits, `.` and `-` |
public struct DeviceURN: Hashable, Sendable {
    /// The private enterprise number of the company that gave the name.
    public let enterprise: UInt32
    /// What stands behind the number, cut at the colons; at least one, none empty.
    public let identifiers: [String]
    /// What stands behind each underscore: a part of the device.
    public let components: [String]

    /// The name of those parts; nil when one of them breaks the grammar.
    public init?(enterprise: UInt32, identifiers: [String], components: [String] = []) {
        guard enterprise > 0, !identifiers.isEmpty, (identifiers + components).allSatisfy(DeviceURN.isIdentifier) else { return nil }
        self.enterprise = enterprise
        self.identifiers = identifiers
        self.components = components
    }

    /// Reads a URI; nil for everything that isn't such a name by the grammar.
    public init?(_ uri: String) {
        let prefix = "urn:dev:"
        guard uri.utf8.count > prefix.utf8.count, uri.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let head = uri.prefix(prefix.count)
        guard head.lowercased() == prefix, uri.dropFirst(prefix.count).hasPrefix("org:") else { return nil }
        let body = uri.dropFirst(prefix.count + 4)
        let digits = body.prefix { $0 >= "0" && $0 <= "9" }
        guard !digits.hasPrefix("0"), let number = UInt32(digits), body.dropFirst(digits.count).first == "-" else { return nil }
        let parts = body.dropFirst(digits.count + 1).split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard let first = parts.first else { return nil }
        self.init(
            enterprise: number, identifiers: first.split(separator: ":", omittingEmptySubsequences: false).map(String.init),
            components: Array(parts.dropFirst()))
    }

    private static func isIdentifier(_ text: String) -> Bool {
        !text.isEmpty
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}

extension DeviceURN: CustomStringConvertible {
    /// The URI.
    public var description: String {
        "urn:dev:org:\(enterprise)-\(identifiers.joined(separator: ":"))" + components.map { "_" + $0 }.joined()
    }
}
