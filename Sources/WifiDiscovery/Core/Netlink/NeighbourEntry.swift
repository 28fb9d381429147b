import SocketCore

/// One line of the kernel's neighbour table (`ndmsg`, linux/neighbour.h).
///
///     offset  size  field
///     0       1     family: 2 IPv4, 10 IPv6
///     4       4     interface index
///     8       2     state
///     12      -     attributes: 1 address, 2 hardware address
public struct NeighbourEntry: Hashable, Sendable {
    /// The neighbour's address; link-local IPv6 with its scope.
    public var address: IPAddress
    /// The interface's index.
    public var interface: UInt32
    /// Its hardware address; nil while it isn't known.
    public var mac: MACAddress?
    /// The kernel's state bits (NUD_…).
    public var state: UInt16

    /// An entry.
    public init(address: IPAddress, interface: UInt32, mac: MACAddress?, state: UInt16) {
        self.address = address
        self.interface = interface
        self.mac = mac
        self.state = state
    }

    private static let newNeighbour: UInt16 = 28
    private static let bodyByteCount = 12
    /// NUD_INCOMPLETE, NUD_FAILED, NUD_NOARP: nobody has answered for these.
    private static let unanswered: UInt16 = 0x01 | 0x20 | 0x40

    /// True when a neighbour has answered for the address, lately or before.
    public var isUsable: Bool { mac?.isUsableAsDevice == true && state & NeighbourEntry.unanswered == 0 }

    /// Reads one message of a dump; nil for another message, or one without an address.
    ///
    /// - Throws: ``NetlinkError/badLength(offset:declared:have:)``.
    public static func read(type: UInt16, _ payload: NetlinkBytes) throws(NetlinkError) -> NeighbourEntry? {
        guard type == newNeighbour, let family = payload.number(at: 0, as: UInt8.self),
            let interface = payload.number(at: 4, as: Int32.self), let state = payload.number(at: 8, as: UInt16.self)
        else { return nil }
        var address: IPAddress?
        var mac: MACAddress?
        try payload.attributes(from: bodyByteCount) { kind, value in
            switch kind {
            case 1: address = IPAddress(family: family, octets: value.copy)
            case 2 where value.count == 6: mac = MACAddress(octets: value.copy)
            default: break
            }
        }
        guard let address else { return nil }
        let index = UInt32(bitPattern: interface)
        return NeighbourEntry(address: address.scoped(to: index), interface: index, mac: mac, state: state)
    }
}

extension IPAddress {
    /// An address of 4 octets (family 2) or 16 octets (family 10); nil for anything else.
    init?(family: UInt8, octets: [UInt8]) {
        let join = { (part: ArraySlice<UInt8>) in part.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
        switch (family, octets.count) {
        case (2, 4): self = .v4(UInt32(join(octets[...])))
        case (10, 16): self = .v6(high: join(octets[..<8]), low: join(octets[8...]), scope: 0)
        default: return nil
        }
    }
}

extension MACAddress {
    /// The address of exactly six octets; nil for any other number of them.
    public init?(octets: [UInt8]) {
        guard octets.count == 6 else { return nil }
        self.init(bits: octets.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
