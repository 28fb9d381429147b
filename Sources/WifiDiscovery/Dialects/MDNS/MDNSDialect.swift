import SocketCore

/// DNS service discovery over multicast DNS, asked as a one-shot query from an ephemeral port, so that answers come back by
/// unicast (RFC 6762, sections 5.1 and 6.7).
///
/// Nothing in it says "router": web servers and workstations are asked for since that is what routers announce, and access points
/// of Apple's, which have a type of their own. Whether a device is one is left to other evidence.
public struct MDNSDialect: DiscoveryDialect {
    /// RFC 6762, section 3.
    public static let port: UInt16 = 5353

    private static let accessPoint = DNSName("_airport._tcp.local")
    private static let workstation = DNSName("_workstation._tcp.local")
    private static let services = [
        DNSName("_http._tcp.local"), DNSName("_https._tcp.local"), workstation, accessPoint,
    ]

    /// The dialect.
    public init() {}

    /// mDNS.
    public var dialect: Dialect { .mdns }
    /// Answers to one-shot queries come to who asked.
    public var listening: UInt16? { nil }

    /// One query a service type: small responders answer only the first question of a message.
    public func probes(isV4: Bool) -> [DialectProbe] {
        let group = isV4 ? IPAddress.v4(224, 0, 0, 251) : .v6(high: 0xFF02 << 48, low: 0xFB, scope: 0)
        return MDNSDialect.services.map { DialectProbe(DNSMessage.query($0), to: Endpoint(group, port: MDNSDialect.port)) }
    }

    /// Reads an answer that names an instance of one of the service types.
    public func parse(_ datagram: [UInt8], from source: Endpoint) -> DeviceDescription? {
        guard let message = DNSMessage(datagram), message.isResponse else { return nil }
        var instances: [(service: DNSName, name: DNSName, isLeaving: Bool)] = []
        for record in message.records {
            guard case .pointer(let instance) = record.data, MDNSDialect.services.contains(record.name), instance.isChild(of: record.name)
            else { continue }
            instances.append((record.name, instance, record.timeToLive == 0))
        }
        guard let first = instances.first else { return nil }
        let facts = MDNSFacts(message, instances: Set(instances.map(\.name)))
        let isAccessPoint = instances.contains { $0.service == MDNSDialect.accessPoint }
        let title = instances.first { $0.service != MDNSDialect.workstation }?.name.first
        let (station, mac) = MDNSDialect.workstationName(instances.first { $0.service == MDNSDialect.workstation }?.name.first ?? "")
        return DeviceDescription(
            .mdns, mac: facts.mac ?? mac, bssids: facts.bssids, name: title ?? station ?? facts.host ?? first.name.first,
            vendor: isAccessPoint ? "Apple" : facts.value("vendor", "manufacturer", "mf"),
            model: facts.value("model", "md", "product", "ty"), firmware: facts.value("firmware", "fw", "version"),
            services: instances.reduce(into: []) { list, instance in
                let name = instance.service.labels.dropLast().map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
                if !list.contains(name) { list.append(name) }
            }, isRouter: isAccessPoint, isLeaving: instances.allSatisfy(\.isLeaving))
    }

    /// Workstations are announced as `name [02:00:5e:00:53:01]`.
    private static func workstationName(_ label: String) -> (name: String?, mac: MACAddress?) {
        guard !label.isEmpty else { return (nil, nil) }
        guard label.last == "]", let open = label.lastIndex(of: "["),
            let mac = MACAddress(String(label[label.index(after: open)...].dropLast()))
        else { return (label, nil) }
        return (label[..<open].trimmingASCIISpaces, mac)
    }
}

/// What the other records of an answer add to its instances.
private struct MDNSFacts {
    private var values: [String: String] = [:]
    private(set) var host: String?
    private(set) var mac: MACAddress?
    private(set) var bssids: [MACAddress] = []

    init(_ message: DNSMessage, instances: Set<DNSName>) {
        for record in message.records {
            switch record.data {
            case .service(let target, _) where instances.contains(record.name): host = host ?? target.first
            case .text(let strings) where instances.contains(record.name): strings.forEach { take($0) }
            default: break
            }
        }
    }

    /// The value of the first of the keys that is there.
    func value(_ keys: String...) -> String { keys.lazy.compactMap { values[$0] }.first { !$0.isEmpty } ?? "" }

    private mutating func take(_ string: ArraySlice<UInt8>) {
        let text = String(decoding: string, as: UTF8.self)
        // Apple's access points put all pairs into one string: waMA is the MAC, raMA and raM2 are the radios'.
        for pair in text.hasPrefix("waMA=") ? text.split(separator: ",") : [text[...]] {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { continue }
            let (key, value) = (parts[0].lowercased(), String(parts[1]))
            // The first string of a key counts (RFC 6763, section 6.4).
            if values[key] == nil { values[key] = value }
            switch key {
            case "wama", "mac", "macaddress": mac = mac ?? MACAddress(value).flatMap { $0.isPlaceholder ? nil : $0 }
            case "rama", "ram2": if let address = MACAddress(value) { bssids.append(address) }
            default: break
            }
        }
    }
}
