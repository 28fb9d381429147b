import SocketCore

/// Ubiquiti's discovery: UDP 10001, by broadcast and on a group of its own; two versions that share their records.
///
///     offset  size  field
///     0       1     version, 1 or 2
///     1       1     command
///     2       2     length of what follows, big-endian; zero in a request
///     4             records: type (1), length (2, big-endian), value
public struct UbiquitiDialect: DiscoveryDialect {
    /// Where devices listen.
    public static let port: UInt16 = 10001
    /// Where they announce themselves.
    public static let group = IPAddress.v4(233, 89, 188, 1)

    private static let requests: [[UInt8]] = [[1, 0, 0, 0], [2, 8, 0, 0]]

    private enum Record {
        static let mac: UInt8 = 0x01
        static let macAndAddress: UInt8 = 0x02
        static let firmware: UInt8 = 0x03
        static let uptime: UInt8 = 0x0A
        static let name: UInt8 = 0x0B
        static let platform: UInt8 = 0x0C
        static let networkName: UInt8 = 0x0D
        static let sourceMAC: UInt8 = 0x13
        static let modelV1: UInt8 = 0x14
        static let modelV2: UInt8 = 0x15
        static let shortFirmware: UInt8 = 0x16
    }

    /// The dialect.
    public init() {}

    /// Ubiquiti.
    public var dialect: Dialect { .ubnt }
    /// Answers come to who asked.
    public var listening: UInt16? { nil }

    /// Both versions' requests, by broadcast and to the group; devices know only IPv4 here.
    public func probes(isV4: Bool) -> [DialectProbe] {
        guard isV4 else { return [] }
        return [IPAddress.v4(0xFFFF_FFFF), UbiquitiDialect.group].flatMap { address in
            UbiquitiDialect.requests.map { DialectProbe($0, to: Endpoint(address, port: UbiquitiDialect.port)) }
        }
    }

    /// Reads an answer or an announcement: at least a MAC or a name must be there.
    public func parse(_ datagram: [UInt8], from source: Endpoint) -> DeviceDescription? {
        var reader = BigEndianReader(datagram)
        guard let version = reader.uint8(), version == 1 || version == 2, reader.uint8() != nil, let length = reader.uint16(), length > 0,
            let body = reader.bytes(Int(length)), let values = UbiquitiDialect.records(body)
        else { return nil }
        let text = { (type: UInt8) in values[type]?.terminatedText ?? "" }
        let addresses = [
            values[Record.mac]?.macAddress, values[Record.macAndAddress]?.prefix(6).macAddress, values[Record.sourceMAC]?.macAddress,
        ]
        let mac = addresses.lazy.compactMap { $0 }.first { $0.isUsableAsDevice }
        guard mac != nil || !text(Record.name).isEmpty else { return nil }
        let models = [text(Record.modelV1), text(Record.modelV2), text(Record.platform)]
        let firmwares = [text(Record.shortFirmware), text(Record.firmware)]
        let network = text(Record.networkName)
        return DeviceDescription(
            .ubnt, mac: mac, name: text(Record.name), vendor: "Ubiquiti", model: models.first { !$0.isEmpty } ?? "",
            firmware: firmwares.first { !$0.isEmpty } ?? "", services: network.isEmpty ? [] : ["ssid=\(network)"],
            uptime: values[Record.uptime].flatMap { $0.count == 4 ? $0.reduce(0) { $0 << 8 | Int($1) } : nil }, isRouter: true)
    }

    /// The first record of each type; nil when a record reaches beyond the end.
    private static func records(_ body: ArraySlice<UInt8>) -> [UInt8: ArraySlice<UInt8>]? {
        var reader = BigEndianReader(body)
        var values: [UInt8: ArraySlice<UInt8>] = [:]
        while !reader.isAtEnd {
            guard let type = reader.uint8(), let length = reader.uint16(), let value = reader.bytes(Int(length)) else { return nil }
            if values[type] == nil { values[type] = value }
        }
        return values
    }
}
