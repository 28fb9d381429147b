import SocketCore

/// How test packets are wrapped.
enum TestLink: CaseIterable, Sendable {
    case ethernet, vlan, stackedVLAN, cooked, cooked2, rawIP, loopback, openLoopback

    /// The number in capture files.
    var number: UInt16 {
        switch self {
        case .ethernet, .vlan, .stackedVLAN: 1
        case .cooked: 113
        case .cooked2: 276
        case .rawIP: 101
        case .loopback: 0
        case .openLoopback: 108
        }
    }

    func wrap(_ packet: [UInt8]) -> [UInt8] {
        let isV4 = packet[0] >> 4 == 4
        let type: [UInt8] = isV4 ? [0x08, 0x00] : [0x86, 0xDD]
        let addresses: [UInt8] = [2, 0, 0x5E, 0, 0x53, 1, 2, 0, 0x5E, 0, 0x53, 2]
        switch self {
        case .ethernet: return addresses + type + packet + [UInt8](repeating: 0, count: max(0, 46 - packet.count))
        case .vlan: return addresses + [0x81, 0x00, 0x00, 0x07] + type + packet
        case .stackedVLAN: return addresses + [0x88, 0xA8, 0x00, 0x09, 0x81, 0x00, 0x00, 0x07] + type + packet
        case .cooked: return [0, 0, 0, 1, 0, 6, 2, 0, 0x5E, 0, 0x53, 1, 0, 0] + type + packet
        case .cooked2: return type + [0, 0, 0, 0, 0, 2, 0, 1, 0, 6, 2, 0, 0x5E, 0, 0x53, 1, 0, 0] + packet
        case .rawIP: return packet
        case .loopback: return [isV4 ? 2 : 30, 0, 0, 0] + packet
        case .openLoopback: return [0, 0, 0, isV4 ? 2 : 24] + packet
        }
    }
}

/// Builds IP packets. `extras` puts options into IPv4 headers and extension headers into IPv6 ones.
struct PacketMaker {
    var extras = false

    func tcp(_ segment: TestSegment) -> [UInt8] {
        let flags = (segment.fin ? 1 : 0) | (segment.syn ? 2 : 0) | (segment.reset ? 4 : 0) | (segment.acknowledgement == nil ? 0 : 0x10)
        let header =
            big16(segment.source.port) + big16(segment.destination.port) + big32(segment.sequence)
            + big32(segment.acknowledgement ?? 0) + [0x60, UInt8(flags), 0xFF, 0xFF, 0, 0, 0, 0, 1, 1, 1, 0]
        return ip(6, header + segment.payload, segment.source.address, segment.destination.address)
    }

    func udp(_ source: Endpoint, _ destination: Endpoint, _ payload: [UInt8]) -> [UInt8] {
        let header = big16(source.port) + big16(destination.port) + big16(UInt16(payload.count + 8)) + [0, 0]
        return ip(17, header + payload, source.address, destination.address)
    }

    /// `fragment` is the whole field of flags and offset.
    func ip(_ transport: UInt8, _ payload: [UInt8], _ source: IPAddress, _ destination: IPAddress, fragment: UInt16 = 0) -> [UInt8] {
        switch (source, destination) {
        case (.v4(let from), .v4(let to)):
            let options: [UInt8] = extras ? [1, 1, 1, 0] : []
            let length = big16(UInt16(20 + options.count + payload.count))
            let fixed = [0x45 + UInt8(options.count / 4), 0] + length + [0, 1] + big16(fragment) + [64, transport, 0, 0]
            return fixed + big32(from) + big32(to) + options + payload
        case (.v6(let fromHigh, let fromLow, _), .v6(let toHigh, let toLow, _)):
            let atomic: [UInt8] = [60, 0, 0, 0, 0, 0, 0, 9]
            let destinationOptions: [UInt8] = [transport, 0, 1, 4, 0, 0, 0, 0]
            let chain: [UInt8] = extras ? [44, 0, 1, 4, 0, 0, 0, 0] + atomic + destinationOptions : []
            let addresses = [fromHigh, fromLow, toHigh, toLow].flatMap { big32(UInt32($0 >> 32)) + big32(UInt32(truncatingIfNeeded: $0)) }
            return [0x60, 0, 0, 0] + big16(UInt16(chain.count + payload.count)) + [extras ? 0 : transport, 64] + addresses + chain + payload
        default: preconditionFailure("two kinds of address in one packet")
        }
    }

    private func big16(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)] }

    private func big32(_ value: UInt32) -> [UInt8] { big16(UInt16(value >> 16)) + big16(UInt16(truncatingIfNeeded: value)) }
}

/// One TCP segment to be.
struct TestSegment {
    var source: Endpoint
    var destination: Endpoint
    var sequence: UInt32
    var acknowledgement: UInt32?
    var syn = false
    var fin = false
    var reset = false
    var payload: [UInt8] = []
}

/// Makes the segments of one connection in the order in which they'd be sent on a perfect line.
struct TestConversation {
    static let client = Endpoint(.v4(192, 0, 2, 10), port: 40_000)
    static let server = Endpoint(.v4(192, 0, 2, 1), port: 19_510)

    let client: Endpoint
    let server: Endpoint
    private var next: (client: UInt32, server: UInt32)
    private(set) var segments: [TestSegment] = []

    init(client: Endpoint = Self.client, server: Endpoint = Self.server, initial: (client: UInt32, server: UInt32) = (1_000, 9_000)) {
        self.client = client
        self.server = server
        next = initial
    }

    mutating func open() {
        add(fromClient: true, syn: true, acknowledges: false)
        add(fromClient: false, syn: true)
        add(fromClient: true)
    }

    mutating func send(fromClient: Bool, _ bytes: [UInt8], inPiecesOf size: Int = 1_000) {
        for start in stride(from: 0, to: bytes.count, by: size) {
            add(fromClient: fromClient, Array(bytes[start..<min(start + size, bytes.count)]))
        }
    }

    mutating func close() {
        add(fromClient: true, fin: true)
        add(fromClient: false, fin: true)
        add(fromClient: true)
    }

    mutating func reset(fromClient: Bool) { add(fromClient: fromClient, reset: true) }

    private mutating func add(
        fromClient: Bool, _ payload: [UInt8] = [], syn: Bool = false, fin: Bool = false, reset: Bool = false, acknowledges: Bool = true
    ) {
        let (own, other) = fromClient ? (next.client, next.server) : (next.server, next.client)
        segments.append(
            TestSegment(
                source: fromClient ? client : server, destination: fromClient ? server : client, sequence: own,
                acknowledgement: acknowledges ? other : nil, syn: syn, fin: fin, reset: reset, payload: payload))
        let used = UInt32(payload.count) + (syn || fin ? 1 : 0)
        if fromClient { next.client &+= used } else { next.server &+= used }
    }
}
