import SocketCore

/// UPnP's simple service discovery, asked for Internet gateway devices (UPnP Device Architecture, section 1.3).
///
/// An answer names little more than the server's software and where the description lies; the shell fetches that with
/// ``HTTPLocation`` and completes what was found.
public struct SSDPDialect: DiscoveryDialect {
    /// UDP 1900.
    public static let port: UInt16 = 1900
    static let gatewayType = "urn:schemas-upnp-org:device:InternetGatewayDevice:"
    /// Seconds over which devices spread their answers: the least that the specification allows.
    private static let spread = 1

    /// The dialect.
    public init() {}

    /// SSDP.
    public var dialect: Dialect { .ssdp }
    /// Answers come to who asked.
    public var listening: UInt16? { nil }

    /// One search for each version of the device type: a version 1 device doesn't know what version 2 is.
    public func probes(isV4: Bool) -> [DialectProbe] {
        let group = isV4 ? IPAddress.v4(239, 255, 255, 250) : .v6(high: 0xFF02 << 48, low: 0xC, scope: 0)
        return [1, 2].map { version in
            let lines = [
                "M-SEARCH * HTTP/1.1", "HOST: \(Endpoint(group, port: SSDPDialect.port))", "MAN: \"ssdp:discover\"",
                "MX: \(SSDPDialect.spread)", "ST: \(SSDPDialect.gatewayType)\(version)", "", "",
            ]
            return DialectProbe(Array(lines.joined(separator: "\r\n").utf8), to: Endpoint(group, port: SSDPDialect.port))
        }
    }

    /// Reads an answer to a search, or an announcement, of an Internet gateway device.
    public func parse(_ datagram: [UInt8], from source: Endpoint) -> DeviceDescription? {
        guard let head = HTTPHead(datagram) else { return nil }
        let isAnswer = head.status == 200
        let isAnnouncement = head.start.hasPrefix("NOTIFY * HTTP/1.")
        guard isAnswer || isAnnouncement, let type = head[isAnswer ? "st" : "nt"], type.hasPrefix(SSDPDialect.gatewayType) else {
            return nil
        }
        let isLeaving = isAnnouncement && head["nts"] == "ssdp:byebye"
        let unique = head["usn"] ?? ""
        let identity = unique.hasPrefix("uuid:") ? unique.dropFirst(5).prefix { $0 != ":" } : ""
        return DeviceDescription(
            .ssdp, firmware: SSDPDialect.product(head["server"] ?? ""), services: [type], identity: String(identity),
            location: head["location"].flatMap { HTTPLocation($0, from: source.address) }, isRouter: true, isLeaving: isLeaving)
    }

    /// Of `system/version UPnP/version product/version` the product: what comes behind UPnP's own token.
    private static func product(_ server: String) -> String {
        let words = server.split(whereSeparator: { $0 == " " || $0 == "," })
        guard let mark = words.firstIndex(where: { $0.lowercased().hasPrefix("upnp/") }) else { return "" }
        return words[(mark + 1)...].joined(separator: " ")
    }
}
