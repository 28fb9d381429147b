import SocketCore

/// One TCP segment.
struct TCPSegment: Sendable {
    let source: Endpoint
    let destination: Endpoint
    let sequence: UInt32
    /// The acknowledgement number, where the segment has one.
    let acknowledgement: UInt32?
    let isSyn: Bool
    let isFin: Bool
    let isReset: Bool
    /// What was captured of the segment's bytes.
    let payload: ArraySlice<UInt8>
    /// Bytes of the segment, captured or not.
    let length: Int
}

/// One UDP datagram.
struct UDPDatagram: Sendable {
    let source: Endpoint
    let destination: Endpoint
    /// What was captured of the datagram's bytes.
    let payload: ArraySlice<UInt8>
    /// Bytes of the datagram, captured or not.
    let length: Int
}

/// What a packet is to a reader of frames.
enum PacketContent: Sendable {
    case tcp(TCPSegment)
    case udp(UDPDatagram)
    /// A piece of an IP packet, which isn't put together here.
    case fragment
    /// Something sound that carries neither TCP nor UDP.
    case other
    /// A link type that isn't known here.
    case unknownLink(UInt16)
    /// Headers that are cut off or contradict themselves.
    case damaged
}

extension PacketContent {
    /// Takes a packet's headers off, from the link to TCP or UDP (RFC 791, 8200, 9293, 768). Checksums aren't looked at:
    /// a machine that leaves them to its network card captures its own packets without.
    init(_ packet: CapturedPacket) {
        let bytes = packet.bytes
        switch packet.linkType {
        case 0, 108: self = bytes.dropFirst(4).map(PacketContent.internetPacket) ?? .damaged
        case 1: self = PacketContent.typed(bytes, typeOffset: 12, headerLength: 14)
        case 12, 14, 101, 228, 229: self = PacketContent.internetPacket(bytes)
        case 113: self = PacketContent.typed(bytes, typeOffset: 14, headerLength: 16)
        case 276: self = PacketContent.typed(bytes, typeOffset: 0, headerLength: 20)
        default: self = .unknownLink(packet.linkType)
        }
    }

    /// A link header that names what follows by EtherType, any number of VLAN tags behind it (802.1Q, 802.1ad).
    private static func typed(_ bytes: ByteWindow, typeOffset: Int, headerLength: Int) -> PacketContent {
        guard var type = bytes.uint16(typeOffset), var rest = bytes.dropFirst(headerLength) else { return .damaged }
        while type == 0x8100 || type == 0x88A8 || type == 0x9100 {
            guard let inner = rest.uint16(2), let behind = rest.dropFirst(4) else { return .damaged }
            type = inner
            rest = behind
        }
        return type == 0x0800 || type == 0x86DD ? internetPacket(rest) : .other
    }

    /// IPv4 or IPv6, told apart by the version that both begin with.
    private static func internetPacket(_ bytes: ByteWindow) -> PacketContent {
        switch bytes.uint8(0).map({ $0 >> 4 }) {
        case 4: v4(bytes)
        case 6: v6(bytes)
        case nil: .damaged
        default: .other
        }
    }

    private static func v4(_ bytes: ByteWindow) -> PacketContent {
        guard let first = bytes.uint8(0), let stated = bytes.uint16(2), let fragment = bytes.uint16(6), let transport = bytes.uint8(9),
            let source = bytes.uint32(12), let destination = bytes.uint32(16)
        else { return .damaged }
        let headerLength = Int(first & 0xF) * 4
        // A length of 0 is what segmentation offload leaves in packets captured before the card has cut them.
        let total = stated == 0 ? bytes.count : Int(stated)
        guard headerLength >= 20, total >= headerLength, let payload = bytes.prefix(total).dropFirst(headerLength) else { return .damaged }
        // Bit 13 says that more fragments follow; the low 13 bits are this one's place.
        if fragment & 0x3FFF != 0 { return .fragment }
        return content(transport, payload, total - headerLength, .v4(source), .v4(destination))
    }

    private static func v6(_ bytes: ByteWindow) -> PacketContent {
        guard let stated = bytes.uint16(4), var next = bytes.uint8(6), let sourceHigh = bytes.uint64(8), let sourceLow = bytes.uint64(16),
            let destinationHigh = bytes.uint64(24), let destinationLow = bytes.uint64(32), let behind = bytes.dropFirst(40)
        else { return .damaged }
        // 0 stands for a length that doesn't fit (RFC 2675) or that offload has left open.
        var length = stated == 0 ? behind.count : Int(stated)
        var rest = behind.prefix(length)
        // Hop-by-hop, routing, destination, mobility, HIP and shim6 headers have one form; others are told apart below.
        while [0, 43, 44, 51, 60, 135, 139, 140].contains(next) {
            guard let following = rest.uint8(0), let size = rest.uint8(1) else { return .damaged }
            if next == 44, let place = rest.uint16(2), place & 0xFFF9 != 0 { return .fragment }
            let headerLength = next == 44 ? 8 : next == 51 ? (Int(size) + 2) * 4 : (Int(size) + 1) * 8
            guard let inner = rest.dropFirst(headerLength) else { return .damaged }
            rest = inner
            length -= headerLength
            next = following
        }
        return content(
            next, rest, length, .v6(high: sourceHigh, low: sourceLow, scope: 0),
            .v6(high: destinationHigh, low: destinationLow, scope: 0))
    }

    private static func content(
        _ transport: UInt8, _ bytes: ByteWindow, _ length: Int, _ source: IPAddress, _ destination: IPAddress
    ) -> PacketContent {
        switch transport {
        case 6: tcp(bytes, length, source, destination)
        case 17: udp(bytes, length, source, destination)
        default: .other
        }
    }

    private static func tcp(_ bytes: ByteWindow, _ length: Int, _ source: IPAddress, _ destination: IPAddress) -> PacketContent {
        guard let sourcePort = bytes.uint16(0), let destinationPort = bytes.uint16(2), let sequence = bytes.uint32(4),
            let acknowledgement = bytes.uint32(8), let size = bytes.uint8(12), let flags = bytes.uint8(13)
        else { return .damaged }
        let headerLength = Int(size >> 4) * 4
        guard headerLength >= 20, headerLength <= length else { return .damaged }
        let payload = bytes.bytes.dropFirst(headerLength)
        return .tcp(
            TCPSegment(
                source: Endpoint(source, port: sourcePort), destination: Endpoint(destination, port: destinationPort),
                sequence: sequence, acknowledgement: flags & 0x10 != 0 ? acknowledgement : nil, isSyn: flags & 0x02 != 0,
                isFin: flags & 0x01 != 0, isReset: flags & 0x04 != 0, payload: payload, length: length - headerLength))
    }

    private static func udp(_ bytes: ByteWindow, _ length: Int, _ source: IPAddress, _ destination: IPAddress) -> PacketContent {
        guard let sourcePort = bytes.uint16(0), let destinationPort = bytes.uint16(2), let stated = bytes.uint16(4),
            let payload = bytes.dropFirst(8)
        else { return .damaged }
        let total = stated == 0 ? length : Int(stated)
        guard total >= 8, total <= length else { return .damaged }
        return .udp(
            UDPDatagram(
                source: Endpoint(source, port: sourcePort), destination: Endpoint(destination, port: destinationPort),
                payload: payload.prefix(total - 8).bytes, length: total - 8))
    }
}
