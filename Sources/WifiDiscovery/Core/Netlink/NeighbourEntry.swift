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

    /// Asks for the whole table, of both families.
    static func request(sequence: UInt32) -> NetlinkRequest {
        NetlinkRequest(type: 30, isDump: true, sequence: sequence, head: [UInt8](repeating: 0, count: bodyByteCount))
    }

    private static let newNeighbour: UInt16 = 28
    private static let bodyByteCount = 12
    /// NUD_INCOMPLETE, NUD_FAILED, NUD_NOARP: nobody has answered for these.
    private static let unanswered: UInt16 = 0x01 | 0x20 | 0x40

    /// True when a neighbour has answered for the address, lately or before.
    public var isUsable: Bool { mac?.isUsableAsDevice == true && state & NeighbourEntry.unanswered == 0 }

    /// Reads one message of the answer; nil for another message, or one without an address.
    init?(_ message: NetlinkMessage) {
        let body = message.payload
        guard message.type == NeighbourEntry.newNeighbour, let family = body.first, let interface = body.native(UInt32.self, at: 4),
            let state = body.native(UInt16.self, at: 8)
        else { return nil }
        let attributes = NetlinkAttributes(body.dropFirst(NeighbourEntry.bodyByteCount))
        guard let octets = attributes[1]?.value, let address = IPAddress(family: family, octets: Array(octets)) else { return nil }
        let mac = attributes[2].flatMap { MACAddress(octets: Array($0.value)) }
        self.init(address: address.scoped(to: interface), interface: interface, mac: mac, state: state)
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
