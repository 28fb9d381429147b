import SocketCore
import Testing

@testable import WifiDiscovery

struct DialectParsingTests {
    private let router = DialectFixture.router
    private let mac = DialectFixture.mac

    private func parse(_ dialect: Dialect, _ name: String) throws -> DeviceDescription? {
        try #require(dialect.foreign).parse(try DialectFixture.datagram(name), from: router)
    }

    @Test func `MNDP tells everything, the uptime the other way round`() throws {
        #expect(
            try parse(.mndp, "mndp-announcement")
                == DeviceDescription(
                    .mndp, mac: mac, name: "Attic", vendor: "MikroTik", model: "RBD52G", firmware: "7.15.3 (stable)", identity: "ABCD-1234",
                    uptime: 86_400, isRouter: true))
    }

    @Test func `Ubiquiti in both versions`() throws {
        #expect(
            try parse(.ubnt, "ubnt-v1")
                == DeviceDescription(
                    .ubnt, mac: mac, name: "Roof", vendor: "Ubiquiti", model: "NanoStation M2", firmware: "XM.ar7240.v5.5.6",
                    services: ["ssid=Home"], uptime: 3_600, isRouter: true))
        #expect(
            try parse(.ubnt, "ubnt-v2")
                == DeviceDescription(
                    .ubnt, mac: mac, name: "UBNT", vendor: "Ubiquiti", model: "U7LT", firmware: "4.3.24.11355", uptime: 60, isRouter: true))
    }

    @Test func `mDNS by web server, workstation and access point`() throws {
        #expect(
            try parse(.mdns, "mdns-http")
                == DeviceDescription(
                    .mdns, name: "Attic router", vendor: "Example", model: "AX-2", services: ["_http._tcp"], isRouter: false))
        let workstation = try #require(try parse(.mdns, "mdns-workstation"))
        #expect(workstation.name == "attic")
        #expect(workstation.mac == mac)
        let accessPoint = try #require(try parse(.mdns, "mdns-airport"))
        #expect(accessPoint.name == "Küche")
        #expect(accessPoint.mac == mac)
        #expect(accessPoint.bssids == [MACAddress(0, 0, 0x5E, 0, 0x53, 0x11), MACAddress(0, 0, 0x5E, 0, 0x53, 0x12)])
        #expect(accessPoint.isRouter)
        #expect(try parse(.mdns, "mdns-goodbye")?.isLeaving == true)
    }

    @Test func `SSDP answers, announces and leaves`() throws {
        let answer = try #require(try parse(.ssdp, "ssdp-igd1"))
        #expect(answer.identity == "2f402f80-da50-11e1-9b23-00005e005301")
        #expect(answer.firmware == "MiniUPnPd/2.3.1")
        #expect(answer.location?.description == "http://192.0.2.1:5000/rootDesc.xml")
        #expect(answer.isRouter && !answer.isLeaving)
        let announcement = try #require(try parse(.ssdp, "ssdp-notify-igd2"))
        #expect(announcement.location == answer.location)
        #expect(announcement.firmware == "Own/2")
        #expect(try parse(.ssdp, "ssdp-byebye")?.isLeaving == true)
        #expect(try parse(.ssdp, "ssdp-printer") == nil)
    }

    @Test(arguments: Dialect.allCases.compactMap(\.foreign).map(\.dialect))
    func `Nobody takes its own question for an answer`(dialect: Dialect) throws {
        let foreign = try #require(dialect.foreign)
        for isV4 in [true, false] {
            for probe in foreign.probes(isV4: isV4) {
                #expect(foreign.parse(probe.bytes, from: router) == nil)
                #expect(probe.destination.address.isV4 == isV4)
                #expect(probe.destination.address.isMulticast || probe.isBroadcast)
            }
        }
    }

    @Test func `Each dialect reads its own datagrams only`() throws {
        for (name, datagram) in try DialectFixture.all() {
            for dialect in Dialect.allCases.compactMap(\.foreign) where !name.hasPrefix(dialect.dialect.rawValue) {
                #expect(dialect.parse(datagram, from: router) == nil, "\(dialect.dialect) read \(name)")
            }
        }
    }

    @Test func `Addresses that no device has are no MAC`() throws {
        var datagram = try DialectFixture.datagram("mndp-announcement")
        datagram.replaceSubrange(8..<14, with: [0, 0, 0, 0, 0, 0])
        #expect(MNDPDialect().parse(datagram, from: router)?.mac == nil)
        datagram.replaceSubrange(8..<14, with: [1, 0, 0x5E, 0, 0, 1])
        #expect(MNDPDialect().parse(datagram, from: router)?.mac == nil)
    }

    @Test func `Texts can't steer a terminal`() {
        let datagram: [UInt8] = [0, 0, 0, 1, 0, 5, 0, 6, 0x1B, 0x5B, 0x32, 0x4A, 0x41, 0x0A]
        #expect(MNDPDialect().parse(datagram, from: router)?.name == "\u{FFFD}[2JA")
    }

    @Test func `Bent datagrams give a bounded description or none`() throws {
        let dialects = Dialect.allCases.compactMap(\.foreign)
        for (name, datagram) in try DialectFixture.all() {
            for seed in UInt64(0)..<600 {
                var generator = SeededGenerator(seed: seed)
                let bent = DialectFixture.bent(datagram, &generator)
                for dialect in dialects {
                    guard let found = dialect.parse(bent, from: router) else { continue }
                    let texts = [found.name, found.vendor, found.model, found.firmware, found.identity] + found.services
                    #expect(texts.allSatisfy { $0.utf8.count <= 64 }, "\(name), seed \(seed)")
                    #expect(
                        found.services.count <= DeviceDescription.maximumServices && found.mac?.isPlaceholder != true,
                        "\(name), seed \(seed)")
                    #expect(found.location?.endpoint.address ?? router.address == router.address, "\(name), seed \(seed)")
                }
            }
        }
    }
}
