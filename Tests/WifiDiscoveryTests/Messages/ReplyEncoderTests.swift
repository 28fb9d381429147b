import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct ReplyEncoderTests {
    static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x01)
    /// As much as a description can hold.
    static let largest = RouterDescription(
        mac: mac, name: String(repeating: "n", count: 64), vendor: String(repeating: "v", count: 64),
        model: String(repeating: "m", count: 64),
        firmware: String(repeating: "f", count: 64), tcp: 65535, tls: true, versions: (1...16).map { 60_000 + $0 }, boot: HexToken(.max),
        uptime: .max,
        radios: (0..<16).map { .init(bssid: mac.advanced(by: $0 + 0x10), ssid: String(repeating: "s", count: 32), band: "2.4") },
        mld: (0..<8).map { mac.advanced(by: $0 + 0x30) }, children: (0..<4).map { mac.advanced(by: $0 + 0x40) })

    /// Nearly as much, and still one datagram when nothing is left out.
    static let rich: RouterDescription = {
        var router = largest
        router.radios.removeLast(10)
        return router
    }()

    private func read(_ limit: Int) throws -> RouterDescription {
        let bytes = try #require(ReplyEncoder.encode(Self.rich, msgId: 1, nonce: HexToken(1), limit: limit))
        #expect(bytes.count <= limit)
        guard case .reply(_, let router) = try DiscoveryDatagram.parse(bytes.span.bytes).message else { return Self.rich }
        return router
    }

    @Test func `what matters least goes first`() throws {
        var lost: [String] = []
        func note(_ name: String, _ isLost: Bool) { if isLost, !lost.contains(name) { lost.append(name) } }
        for limit in stride(from: 1472, through: 330, by: -1) {
            let router = try read(limit)
            note("uptime", router.uptime == nil)
            note("firmware", router.firmware.isEmpty)
            note("vendor", router.vendor.isEmpty)
            note("ssid", router.radios.first?.ssid.isEmpty ?? false)
            note("band", router.radios.first?.band.isEmpty ?? false)
            note("model", router.model.isEmpty)
            note("half name", router.name.utf8.count == 32)
            note("name", router.name.isEmpty)
            note("children", router.children.isEmpty)
            note("mld", router.mld.isEmpty)
            note("radios", router.radios.count < 6)
            #expect(router.boot == Self.largest.boot && router.tls && router.versions == Self.largest.versions && router.tcp == 65535)
        }
        #expect(lost == ["uptime", "firmware", "vendor", "ssid", "band", "model", "half name", "name", "children", "mld", "radios"])
    }

    @Test func `a reply to an unpadded probe still names the first radio`() throws {
        let router = RouterDescription(
            mac: Self.mac, name: "Attic", vendor: "Example", boot: HexToken(1), uptime: 1,
            radios: [.init(bssid: Self.mac.advanced(by: 16), ssid: "Home", band: "5")])
        let bytes = try #require(ReplyEncoder.encode(router, msgId: 1, nonce: HexToken(1), limit: ReplyEncoder.limit(forProbeOf: 62)))
        guard case .reply(_, let read) = try DiscoveryDatagram.parse(bytes.span.bytes).message else { return #expect(Bool(false)) }
        #expect(read.radios.map(\.bssid) == router.radios.map(\.bssid))
    }

    @Test func `where the required members don't fit there is no reply`() {
        #expect(ReplyEncoder.encode(Self.largest, msgId: 1, nonce: HexToken(1), limit: 100) == nil)
    }

    @Test func `never three times the probe nor 1,200 bytes`() {
        #expect(ReplyEncoder.limit(forProbeOf: 62) == 186)
        #expect(ReplyEncoder.limit(forProbeOf: 400) == 1200)
        #expect(ReplyEncoder.limit(forProbeOf: 1472) == 1200)
        #expect(DiscoveryDatagram(msgId: 1, .reply(nonce: HexToken(1), Self.largest)).encoded().count <= 1200)
        #expect(DiscoveryDatagram(msgId: 0, .announce(Self.largest)).encoded().count <= 1200)
    }
}
