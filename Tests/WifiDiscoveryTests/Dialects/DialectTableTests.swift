import SocketCore
import Testing

@testable import WifiDiscovery

struct DialectTableTests {
    private let mac = DialectFixture.mac
    private let other = MACAddress(0, 0, 0x5E, 0, 0x53, 9)
    private let v4 = DiscoveredRouter.Place(.v4(192, 0, 2, 1), interface: 2)
    private let elsewhere = DiscoveredRouter.Place(.v4(192, 0, 2, 50), interface: 2)
    private let v6 = DiscoveredRouter.Place(.v6(high: 0xFE80 << 48, low: 1, scope: 2), interface: 2)

    private func read(_ dialect: Dialect, _ name: String) throws -> DeviceDescription {
        try #require(dialect.foreign?.parse(try DialectFixture.datagram(name), from: DialectFixture.router))
    }

    private func at(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func `One device in three dialects is one row, in any order`() throws {
        let said = [try read(.ssdp, "ssdp-igd1"), try read(.mdns, "mdns-http"), try read(.mndp, "mndp-announcement")]
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]] {
            var table = DialectTable()
            for index in order { _ = table.take(said[index], at: v4, neighbour: other, now: at(0)) }
            #expect(table.devices.count == 1)
            let device = table.devices[0]
            #expect(device.mac == mac)
            #expect(device.dialects == [.ssdp, .mdns, .mndp])
            #expect(device.name == "Attic" && device.vendor == "MikroTik" && device.model == "RBD52G")
            #expect(device.isRouter)
        }
    }

    @Test func `Two rows become one when a datagram shows that they are one device`() throws {
        var table = DialectTable()
        _ = table.take(try read(.mndp, "mndp-announcement"), at: v4, neighbour: nil, now: at(0))
        _ = table.take(DeviceDescription(.ssdp, name: "x", isRouter: true), at: elsewhere, neighbour: nil, now: at(0))
        #expect(table.devices.count == 2)
        let change = table.take(try read(.mdns, "mdns-workstation"), at: elsewhere, neighbour: nil, now: at(1))
        #expect(table.devices.count == 1)
        #expect(change == .updated(table.devices[0]))
        #expect(table.devices[0].places == [v4, elsewhere])
        #expect(table.devices[0].dialects == [.ssdp, .mdns, .mndp])
    }

    @Test func `Without a MAC in the datagram the neighbour table has it`() throws {
        var table = DialectTable()
        guard case .found(let device) = table.take(try read(.ssdp, "ssdp-igd1"), at: v4, neighbour: mac, now: at(0)) else {
            Issue.record("not found")
            return
        }
        #expect(device.mac == mac)
        #expect(device.grading(link: [mac]).grade == .exact)
        #expect(device.grading(link: []).grade == .unknown)
        var unknown = DialectTable()
        _ = unknown.take(try read(.ssdp, "ssdp-igd1"), at: v4, neighbour: .zero, now: at(0))
        #expect(unknown.devices[0].mac == nil)
        #expect(unknown.devices[0].grading(link: [mac]).grade == .unknown)
    }

    @Test func `An extender's address in the neighbour table joins nobody`() {
        var table = DialectTable()
        for last in UInt8(1)...3 {
            let place = DiscoveredRouter.Place(.v4(192, 0, 2, last), interface: 2)
            _ = table.take(DeviceDescription(.ssdp, isRouter: true), at: place, neighbour: other, now: at(0))
        }
        #expect(table.devices.count == 3)
    }

    @Test func `Devices that ship with one identity stay apart, whatever the order`() {
        var table = DialectTable()
        let said = DeviceDescription(.ssdp, identity: "00000000-0000-0000-0000-000000000000", isRouter: true)
        _ = table.take(said, at: v4, neighbour: mac, now: at(0))
        _ = table.take(said, at: elsewhere, neighbour: other, now: at(0))
        _ = table.take(said, at: v6, neighbour: mac, now: at(0))
        #expect(table.devices.map(\.places) == [[v4, v6], [elsewhere]])
        var strangers = DialectTable()
        _ = strangers.take(said, at: v4, neighbour: mac, now: at(0))
        _ = strangers.take(said, at: v6, neighbour: other, now: at(0))
        #expect(strangers.devices.count == 2)
        var unresolved = DialectTable()
        _ = unresolved.take(said, at: v4, neighbour: mac, now: at(0))
        _ = unresolved.take(said, at: v6, neighbour: nil, now: at(0))
        #expect(unresolved.devices.count == 1)
    }

    @Test func `Both address families of one device are one row`() {
        var table = DialectTable()
        _ = table.take(DeviceDescription(.ssdp, isRouter: true), at: v4, neighbour: mac, now: at(0))
        _ = table.take(DeviceDescription(.ssdp, isRouter: true), at: v6, neighbour: mac, now: at(0))
        #expect(table.devices.count == 1)
        #expect(table.devices[0].places == [v4, v6])
    }

    @Test func `A radio named in a dialect grades as one`() throws {
        var table = DialectTable()
        _ = table.take(try read(.mdns, "mdns-airport"), at: v4, neighbour: nil, now: at(0))
        #expect(table.devices[0].grading(link: [MACAddress(0, 0, 0x5E, 0, 0x53, 0x12)]).grade == .radio)
    }

    @Test func `Repetition and uptime are no news, goodbye is`() throws {
        var table = DialectTable()
        var said = try read(.mndp, "mndp-announcement")
        _ = table.take(said, at: v4, neighbour: nil, now: at(0))
        said.uptime = 90_000
        #expect(table.take(said, at: v4, neighbour: nil, now: at(60)) == .nothing)
        #expect(table.devices[0].uptime == 90_000)
        _ = table.take(try read(.ssdp, "ssdp-igd1"), at: v4, neighbour: nil, now: at(60))
        let change = table.take(try read(.ssdp, "ssdp-byebye"), at: v4, neighbour: nil, now: at(61))
        #expect(change == .updated(table.devices[0]))
        #expect(table.devices[0].dialects == [.mndp])
        #expect(table.forget(silentSince: at(61)).count == 1)
        #expect(table.devices.isEmpty)
    }

    @Test func `A search answered later doesn't forget the description`() throws {
        var table = DialectTable()
        let found = try read(.ssdp, "ssdp-igd1")
        _ = table.take(found, at: v4, neighbour: nil, now: at(0))
        let complete = try UPnPDescription(try DialectFixture.file("gateway.xml")).completing(found)
        _ = table.take(complete, at: v4, neighbour: nil, now: at(1))
        #expect(table.take(found, at: v4, neighbour: nil, now: at(2)) == .nothing)
        #expect(table.devices[0].name == "Attic & Cellar ☕")
        #expect(table.devices[0].services.count == 3)
    }

    @Test func `Routers of the native dialect aren't listed twice`() throws {
        var table = DialectTable()
        _ = table.take(try read(.mndp, "mndp-announcement"), at: elsewhere, neighbour: nil, now: at(0))
        _ = table.take(try read(.ssdp, "ssdp-igd1"), at: v4, neighbour: nil, now: at(0))
        let byMAC = DiscoveredRouter(router: RouterDescription(mac: mac), place: v6)
        #expect(table.beside([byMAC]).map(\.places) == [[v4]])
        let byPlace = DiscoveredRouter(router: RouterDescription(mac: other), place: v4)
        #expect(table.beside([byPlace]).map(\.places) == [[elsewhere]])
    }

    @Test func `Twenty thousand forged answers fill the table and nothing more`() {
        var table = DialectTable()
        var refused = 0
        for number in UInt32(0)..<20_000 {
            let place = DiscoveredRouter.Place(.v4(0x0A00_0000 + number), interface: 2)
            if table.take(DeviceDescription(.ssdp, isRouter: true), at: place, neighbour: nil, now: at(0)) == .refused { refused += 1 }
        }
        #expect(table.devices.count == DialectTable.maximumDevices)
        #expect(refused == 20_000 - DialectTable.maximumDevices)
    }
}
