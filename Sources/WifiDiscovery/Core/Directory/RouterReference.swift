import SocketCore

/// What a person writes to name a router: a MAC in any spelling, a name, `address[:port]`, or `current`.
public enum RouterReference: Hashable, Sendable {
    /// The one in use.
    case current
    /// By its MAC.
    case mac(MACAddress)
    /// By where it is; the port only when one was written.
    case address(IPAddress, port: UInt16?)
    /// By its name.
    case name(String)

    /// Reads one; whatever is neither `current`, nor a MAC, nor an address is a name.
    ///
    /// IPv6 stands in brackets where a port follows and may have a scope, by number or by interface name; `scopeIndex` finds
    /// the number of a name.
    public init(parsing text: String, scopeIndex: (String) -> UInt32? = { _ in nil }) {
        if text == "current" {
            self = .current
        } else if let mac = MACAddress(text) {
            self = .mac(mac)
        } else if let (address, port) = RouterReference.readAddress(text, scopeIndex) {
            self = .address(address, port: port)
        } else {
            self = .name(text)
        }
    }

    private static func readAddress(_ text: String, _ scopeIndex: (String) -> UInt32?) -> (IPAddress, UInt16?)? {
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]"), let address = readHost(text[text.index(after: text.startIndex)..<end], scopeIndex),
                !address.isV4
            else { return nil }
            let rest = text[text.index(after: end)...]
            if rest.isEmpty { return (address, nil) }
            guard rest.first == ":", let port = UInt16(rest.dropFirst()) else { return nil }
            return (address, port)
        }
        if let address = readHost(text[...], scopeIndex) { return (address, nil) }
        guard let colon = text.lastIndex(of: ":"), let address = IPAddress(text[..<colon]), address.isV4,
            let port = UInt16(text[text.index(after: colon)...])
        else { return nil }
        return (address, port)
    }

    private static func readHost(_ text: Substring, _ scopeIndex: (String) -> UInt32?) -> IPAddress? {
        if let address = IPAddress(text) { return address }
        guard let percent = text.firstIndex(of: "%"), let index = scopeIndex(String(text[text.index(after: percent)...])),
            case .v6(let high, let low, _)? = IPAddress(text[..<percent])
        else { return nil }
        return .v6(high: high, low: low, scope: index)
    }
}
