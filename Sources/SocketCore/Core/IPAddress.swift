/// An IPv4 or IPv6 address as a value: no system call is needed to read, compare or print one.
public enum IPAddress: Hashable, Sendable {
    /// Four octets, the first in the top byte.
    case v4(UInt32)
    /// Sixteen octets in two halves, and the interface index that a link-local address belongs to (0: none).
    case v6(high: UInt64, low: UInt64, scope: UInt32)

    /// An IPv4 address of four octets.
    public static func v4(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8) -> IPAddress {
        .v4(UInt32(a) << 24 | UInt32(b) << 16 | UInt32(c) << 8 | UInt32(d))
    }

    /// 127.0.0.1.
    public static let loopback = IPAddress.v4(127, 0, 0, 1)
    /// 0.0.0.0: every local IPv4 address.
    public static let any = IPAddress.v4(0)
    /// ::, every local IPv6 address.
    public static let anyV6 = IPAddress.v6(high: 0, low: 0, scope: 0)

    /// True for IPv4.
    public var isV4: Bool { if case .v4 = self { true } else { false } }

    /// 224.0.0.0/4 and ff00::/8.
    public var isMulticast: Bool {
        switch self {
        case .v4(let bits): bits >> 28 == 0xE
        case .v6(let high, _, _): high >> 56 == 0xFF
        }
    }

    /// 169.254.0.0/16 (RFC 3927) and fe80::/10 (RFC 4291).
    public var isLinkLocal: Bool {
        switch self {
        case .v4(let bits): bits >> 16 == 0xA9FE
        case .v6(let high, _, _): high >> 54 == 0x3FA
        }
    }

    /// 127.0.0.0/8 and ::1.
    public var isLoopback: Bool {
        switch self {
        case .v4(let bits): bits >> 24 == 127
        case .v6(let high, let low, _): high == 0 && low == 1
        }
    }

    /// Addresses that never leave a site: RFC 1918, RFC 4193 (fc00::/7), link-local and loopback.
    public var isPrivate: Bool {
        if isLinkLocal || isLoopback { return true }
        switch self {
        case .v4(let bits): return bits >> 24 == 10 || bits >> 20 == 0xAC1 || bits >> 16 == 0xC0A8
        case .v6(let high, _, _): return high >> 57 == 0x7E
        }
    }

    /// 0.0.0.0 and ::.
    public var isUnspecified: Bool {
        switch self {
        case .v4(let bits): bits == 0
        case .v6(let high, let low, _): high == 0 && low == 0
        }
    }

    /// The same address bound to an interface, where it's one that needs it: link-local IPv6, unicast or group.
    public func scoped(to interface: UInt32) -> IPAddress {
        guard case .v6(let high, let low, _) = self, isLinkLocal || isLinkLocalGroup else { return self }
        return .v6(high: high, low: low, scope: interface)
    }

    /// The same address without its interface.
    public var unscoped: IPAddress {
        guard case .v6(let high, let low, _) = self else { return self }
        return .v6(high: high, low: low, scope: 0)
    }

    /// What one host may have as many addresses of as it likes: the /64 of an IPv6 address, link-local ones by interface; an IPv4 address
    /// is one by itself. Where sources are counted, the addresses of one network are counted together as well.
    public var network: IPAddress {
        guard case .v6(let high, _, let scope) = self else { return self }
        return .v6(high: high, low: 0, scope: isLinkLocal ? scope : 0)
    }

    /// ff?2::/16, groups that stay on their link (RFC 4291, section 2.7).
    private var isLinkLocalGroup: Bool {
        if case .v6(let high, _, _) = self { high >> 56 == 0xFF && (high >> 48) & 0xF == 2 } else { false }
    }

    /// True when both lie in one network of `prefixLength` leading bits.
    public func isInSameNetwork(as other: IPAddress, prefixLength: Int) -> Bool {
        switch (self, other) {
        case (.v4(let left), .v4(let right)):
            return prefixLength <= 0 || (left ^ right) >> UInt32(32 - min(prefixLength, 32)) == 0
        case (.v6(let leftHigh, let leftLow, _), .v6(let rightHigh, let rightLow, _)):
            let highBits = min(prefixLength, 64)
            let lowBits = max(prefixLength - 64, 0)
            return (highBits <= 0 || (leftHigh ^ rightHigh) >> UInt64(64 - highBits) == 0)
                && (lowBits <= 0 || (leftLow ^ rightLow) >> UInt64(64 - min(lowBits, 64)) == 0)
        default: return false
        }
    }
}

/// An address and a port.
public struct Endpoint: Hashable, Sendable {
    /// Where.
    public var address: IPAddress
    /// UDP or TCP port.
    public var port: UInt16

    /// An address and a port.
    public init(_ address: IPAddress, port: UInt16) {
        self.address = address
        self.port = port
    }
}
