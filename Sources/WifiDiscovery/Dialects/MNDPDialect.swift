import SocketCore

/// MikroTik's neighbour discovery: UDP 5678, answered and announced by broadcast.
///
///     offset  size  field
///     0       2     flags; zero in a request
///     2       2     sequence number; zero in a request
///     4             records: type (2, big-endian), length (2, big-endian), value
///
/// A request is the first four bytes alone. Answers go to everybody's port 5678, not to who asked.
public struct MNDPDialect: DiscoveryDialect {
    /// Where devices listen and where answers go.
    public static let port: UInt16 = 5678

    private enum Record {
        static let mac: UInt16 = 1
        static let identity: UInt16 = 5
        static let version: UInt16 = 7
        static let platform: UInt16 = 8
        static let uptime: UInt16 = 10
        static let softwareID: UInt16 = 11
        static let board: UInt16 = 12
        static let interface: UInt16 = 16
    }

    /// The dialect.
    public init() {}

    /// MNDP.
    public var dialect: Dialect { .mndp }
    /// 5678.
    public var listening: UInt16? { MNDPDialect.port }

    /// A request to everybody on the link.
    public func probes(isV4: Bool) -> [DialectProbe] {
        let everybody = isV4 ? IPAddress.v4(0xFFFF_FFFF) : .v6(high: 0xFF02 << 48, low: 1, scope: 0)
        return [DialectProbe([0, 0, 0, 0], to: Endpoint(everybody, port: MNDPDialect.port))]
    }

    /// Reads an announcement: at least a MAC or an identity must be there.
    public func parse(_ datagram: [UInt8], from source: Endpoint) -> DeviceDescription? {
        var reader = BigEndianReader(datagram)
        guard reader.uint32() != nil else { return nil }
        var values: [UInt16: ArraySlice<UInt8>] = [:]
        while !reader.isAtEnd {
            guard let type = reader.uint16(), let length = reader.uint16(), let value = reader.bytes(Int(length)) else { return nil }
            if values[type] == nil { values[type] = value }
        }
        let text = { (type: UInt16) in values[type]?.terminatedText ?? "" }
        let mac = values[Record.mac]?.macAddress
        guard mac?.isUsableAsDevice == true || !text(Record.identity).isEmpty else { return nil }
        return DeviceDescription(
            .mndp, mac: mac, name: text(Record.identity), vendor: text(Record.platform), model: text(Record.board),
            firmware: text(Record.version), identity: text(Record.softwareID), uptime: values[Record.uptime].flatMap(MNDPDialect.seconds),
            isRouter: true)
    }

    /// The uptime alone is little-endian.
    private static func seconds(_ value: ArraySlice<UInt8>) -> Int? {
        value.count == 4 ? value.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
