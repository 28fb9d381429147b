/// The names in a certificate that mean something to us (protocol.md, section 6); all others are ignored.
public struct CertifiedNames: Equatable, Sendable {
    /// How many radios a certificate may name.
    public static let mostRadios = 8

    /// What is wrong with the names that should mean something.
    public enum Problem: Equatable, Sendable {
        /// A name of our kind whose value can't be read.
        case malformed(String)
        /// More radios than ``mostRadios``.
        case tooManyRadios(Int)
        /// Names of our kind given by different companies.
        case severalEnterprises
    }

    /// Hardware addresses of the device, in the low 48 bits each, the first octet on top. Exactly one is right.
    public private(set) var deviceAddresses: [UInt64] = []
    /// Burnt-in radio addresses (BSSIDs), likewise.
    public private(set) var radioAddresses: [UInt64] = []
    /// Ids of operators.
    public private(set) var operators: [String] = []
    /// The company's number in those names; nil when there are none.
    public private(set) var enterprise: UInt32?
    /// The first thing wrong, nil for none.
    public private(set) var problem: Problem?

    /// Reads the URIs of a subjectAltName. With `enterprise`, names given by other companies are unknown names.
    public init(uris: [String], enterprise wanted: UInt32? = nil) {
        for uri in uris {
            guard let name = DeviceURN(uri) else {
                if CertifiedNames.looksLikeOurs(uri) { note(.malformed(uri)) }
                continue
            }
            if let wanted, name.enterprise != wanted { continue }
            take(name)
        }
        if radioAddresses.count > CertifiedNames.mostRadios { note(.tooManyRadios(radioAddresses.count)) }
    }

    private mutating func take(_ name: DeviceURN) {
        let kind = name.identifiers[0]
        guard ["mac", "bssid", "operator"].contains(kind) else { return }
        // Exactly one value and no part of a device: nobody may be admitted by a name that can be read in two ways.
        guard name.identifiers.count == 2, name.components.isEmpty else { return note(.malformed(name.description)) }
        let value = name.identifiers[1]
        switch kind {
        case "mac": takeAddress(value, of: name) { $0.deviceAddresses.append($1) }
        case "bssid": takeAddress(value, of: name) { $0.radioAddresses.append($1) }
        default:
            operators.append(value)
            noteEnterprise(name)
        }
    }

    private mutating func takeAddress(_ text: String, of name: DeviceURN, _ keep: (inout CertifiedNames, UInt64) -> Void) {
        // Exactly 12 digits: UInt64 alone would take a sign.
        guard text.utf8.count == 12, text.allSatisfy(\.isHexDigit), let address = UInt64(text, radix: 16) else {
            return note(.malformed(name.description))
        }
        keep(&self, address)
        noteEnterprise(name)
    }

    private mutating func noteEnterprise(_ name: DeviceURN) {
        if let enterprise, enterprise != name.enterprise { note(.severalEnterprises) }
        enterprise = name.enterprise
    }

    private mutating func note(_ found: Problem) { if problem == nil { problem = found } }

    /// A name that means to be one of ours, although the grammar refuses it: better refused than overlooked.
    private static func looksLikeOurs(_ uri: String) -> Bool {
        guard uri.hasPrefix("urn:dev:org:") else { return false }
        let body = uri.dropFirst("urn:dev:org:".count).drop { $0 >= "0" && $0 <= "9" }
        return ["-mac:", "-bssid:", "-operator:"].contains { body.hasPrefix($0) }
    }
}

extension CertifiedNames {
    /// `urn:dev:org:<PEN>-mac:<12 hex>`; nil for enterprise number 0.
    public static func deviceURI(_ address: UInt64, enterprise: UInt32) -> String? {
        DeviceURN(enterprise: enterprise, identifiers: ["mac", hex(address)])?.description
    }

    /// `urn:dev:org:<PEN>-bssid:<12 hex>`; nil for enterprise number 0.
    public static func radioURI(_ address: UInt64, enterprise: UInt32) -> String? {
        DeviceURN(enterprise: enterprise, identifiers: ["bssid", hex(address)])?.description
    }

    /// `urn:dev:org:<PEN>-operator:<id>`; nil when the id is empty or has other characters than letters, digits, `.` and `-`.
    public static func operatorURI(_ id: String, enterprise: UInt32) -> String? {
        DeviceURN(enterprise: enterprise, identifiers: ["operator", id])?.description
    }

    /// Twelve lower-case hex digits.
    static func hex(_ address: UInt64) -> String {
        let digits = String(address & 0xFFFF_FFFF_FFFF, radix: 16)
        return String(repeating: "0", count: 12 - digits.count) + digits
    }
}
