/// A 48-bit hardware address (IEEE 802 MAC, BSSID) as a value.
///
/// Printed in lower-case colon form; for what is read see ``init(parsing:)`` (protocol.md, section 4).
public struct MACAddress: Hashable, Comparable, Sendable, BitwiseCopyable {
    /// The six octets in the low 48 bits, the first octet on top; the upper 16 bits are 0.
    public let bits: UInt64

    /// The address in the low 48 bits of `bits`; the rest is ignored.
    public init(bits: UInt64) { self.bits = bits & 0xFFFF_FFFF_FFFF }

    /// The address of six octets in the order they are written.
    public init(_ a: UInt8, _ b: UInt8, _ c: UInt8, _ d: UInt8, _ e: UInt8, _ f: UInt8) {
        let high = UInt64(a) << 40 | UInt64(b) << 32 | UInt64(c) << 24
        bits = high | UInt64(d) << 16 | UInt64(e) << 8 | UInt64(f)
    }

    /// 00:00:00:00:00:00.
    public static let zero = MACAddress(bits: 0)
    /// ff:ff:ff:ff:ff:ff.
    public static let broadcast = MACAddress(bits: 0xFFFF_FFFF_FFFF)
    /// 02:00:00:00:00:00, which phones and kernels show in place of an address that they keep to themselves.
    public static let redacted = MACAddress(bits: 0x0200_0000_0000)

    /// The U/L bit: the address was made up by its user, not burnt in by a manufacturer.
    public var isLocallyAdministered: Bool { bits & MACAddress.localBit != 0 }
    /// The I/G bit: a group of stations, broadcast included.
    public var isGroup: Bool { bits & 0x0100_0000_0000 != 0 }
    /// False for all-zero, broadcast and group addresses, which no device can have.
    public var isUsableAsDevice: Bool { bits != 0 && !isGroup }
    /// True for a BSSID that means "unknown": all zero, all ones, group bit set, 02:00:00:00:00:00 (protocol.md, section 4).
    public var isPlaceholder: Bool { !isUsableAsDevice || self == .redacted }

    /// The octet at `index`, 0...5, counted as written.
    public func octet(_ index: Int) -> UInt8 { UInt8(truncatingIfNeeded: bits >> UInt64(40 - 8 * index)) }

    /// The address `offset` further in the lower 24 bits, which wrap around: a series as a manufacturer counts it.
    public func advanced(by offset: Int) -> MACAddress {
        let low = UInt64(truncatingIfNeeded: Int(bits & 0xFF_FFFF) &+ offset) & 0xFF_FFFF
        return MACAddress(bits: bits & ~0xFF_FFFF | low)
    }

    /// Orders by octets as written.
    public static func < (left: MACAddress, right: MACAddress) -> Bool { left.bits < right.bits }

    static let localBit: UInt64 = 0x0200_0000_0000
}
