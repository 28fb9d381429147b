import FrameCodec
import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct DiscoveryDatagramTests {
    static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x01)
    static let bssid = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x11)
    static let router = RouterDescription(
        mac: mac, name: "Attic", vendor: "Example", model: "AX-2", firmware: "1.4.2", tcp: 19510, tls: true, versions: [1],
        boot: HexToken(0xA1), uptime: 86_400, radios: [.init(bssid: bssid, ssid: "Home", band: "5")], mld: [mac.advanced(by: 0x1E)])

    static func datagram(_ json: String, msgId: UInt32 = 7) -> [UInt8] { DiscoveryDatagram.frame(msgId: msgId, body: Array(json.utf8)) }

    static func parse(_ bytes: [UInt8]) throws(DatagramError) -> DiscoveryDatagram { try DiscoveryDatagram.parse(bytes.span.bytes) }

    static let messages: [DiscoveryDatagram] = [
        DiscoveryDatagram(msgId: 1, .probe(Probe(nonce: HexToken(9)))),
        DiscoveryDatagram(
            msgId: .max, .probe(Probe(nonce: HexToken(.max), maxWaitMilliseconds: 2000, bssid: bssid, known: [mac, bssid], mac: mac))),
        DiscoveryDatagram(msgId: 5, .reply(nonce: HexToken(3), router)),
        DiscoveryDatagram(msgId: 5, .reply(nonce: HexToken(3), RouterDescription(mac: mac))),
        DiscoveryDatagram(msgId: 0, .announce(router)),
        DiscoveryDatagram(msgId: 0, .bye(mac: mac, boot: HexToken(4))),
        DiscoveryDatagram(msgId: 0, .bye(mac: mac, boot: nil)),
    ]

    @Test("what is written is read again", arguments: messages)
    func roundTrip(message: DiscoveryDatagram) throws {
        #expect(try Self.parse(message.encoded()) == message)
    }

    @Test("a probe has at least 400 bytes", arguments: 0...64)
    func padding(known: Int) throws {
        let probe = Probe(nonce: HexToken(1), known: (0..<known).map { Self.mac.advanced(by: $0) })
        let bytes = DiscoveryDatagram(msgId: 1, .probe(probe)).encoded()
        #expect(bytes.count >= 400 && bytes.count <= DiscoveryDatagram.maximumByteCount)
        if known < 10 { #expect(bytes.count == 400) }
        #expect(try Self.parse(bytes).message == .probe(probe))
    }

    @Test func `the documented reply is read`() throws {
        let json = """
            {"reply":{"nonce":"00000000000000aa","mac":"02:00:5e:00:53:01","name":"Attic","vendor":"Example","model":"AX-2","firmware":"1.4.2",
            "tcp":19510,"tls":true,"versions":[1],"boot":"00000000000000a1","uptime":86400,
            "radios":[{"bssid":"02:00:5e:00:53:11","ssid":"Home","band":"5"}],"mld":["02:00:5e:00:53:1f"],"later":{"x":[1]}}}
            """
        #expect(try Self.parse(Self.datagram(json)) == DiscoveryDatagram(msgId: 7, .reply(nonce: HexToken(0xAA), Self.router)))
    }

    /// Datagrams of another implementation of the protocol.
    private func recorded(_ name: String) throws -> DiscoveryDatagram {
        try Self.parse(try #require(try Fixture.hexLines("discovery/peer-\(name).hex").first))
    }

    @Test func `recorded datagrams of another implementation are read`() throws {
        let nonce = HexToken(0x0123_4567_89AB_CDEF)
        let peer = RouterDescription(
            mac: Self.mac, name: "peer", vendor: "Example", model: "peer-1", firmware: "0.9", boot: HexToken(0xA1), uptime: 86_400,
            radios: [
                .init(bssid: Self.bssid, ssid: "Home", band: "2.4"), .init(bssid: Self.bssid.advanced(by: 1), ssid: "Home", band: "5"),
            ])
        #expect(try recorded("probe") == DiscoveryDatagram(msgId: 0x0102_0304, .probe(Probe(nonce: nonce))))
        #expect(
            try recorded("probe-bssid")
                == DiscoveryDatagram(msgId: .max, .probe(Probe(nonce: nonce, maxWaitMilliseconds: 0, bssid: Self.bssid))))
        #expect(try recorded("reply") == DiscoveryDatagram(msgId: 0x0102_0304, .reply(nonce: nonce, peer)))
        #expect(try recorded("reply-wrong-nonce") == DiscoveryDatagram(msgId: 0x0102_0304, .reply(nonce: HexToken(.max), peer)))
    }

    static let reply = #"{"reply":{"nonce":"00000000000000aa","mac":"02:00:5e:00:53:01","tcp":1,"versions":[1]"#

    static let invalid: [(String, [UInt8], DatagramError)] = [
        ("empty", [], .frame(.truncated(have: 0, need: 10))),
        ("half a header", [0, 0, 0, 1, 0], .frame(.truncated(have: 5, need: 10))),
        ("half a body", Array(datagram("{}").dropLast()), .frame(.truncated(have: 11, need: 12))),
        ("another version", [0, 0, 0, 1, 0, 2, 0, 0, 0, 0], .frame(.unsupportedVersion(version: 2))),
        ("4 GiB declared", [0, 0, 0, 1, 0, 1, 255, 255, 255, 255], .frame(.bodyTooLarge(declared: 4_294_967_295, limit: 1472))),
        ("a byte behind", datagram("{}") + [0], .trailingBytes(1)),
        ("two frames", datagram("{}") + datagram("{}"), .trailingBytes(12)),
        ("no body", datagram(""), .notJSON(.unexpected(offset: 0))),
        ("no JSON", datagram("hello"), .notJSON(.unexpected(offset: 0))),
        ("deep", datagram(String(repeating: "[", count: 1000)), .notJSON(.tooDeep(offset: 32))),
        ("an array", datagram("[1]"), .unknownMessage),
        ("a stranger", datagram(#"{"hello":{}}"#), .unknownMessage),
        ("no nonce", datagram(#"{"probe":{}}"#), .missingKey("nonce")),
        ("not an object", datagram(#"{"probe":7}"#), .missingKey("nonce")),
        ("a short nonce", datagram(#"{"probe":{"nonce":"1"}}"#), .badValue(key: "nonce")),
        ("a number for a nonce", datagram(#"{"probe":{"nonce":1}}"#), .badValue(key: "nonce")),
        ("a bad filter", datagram(#"{"probe":{"nonce":"00000000000000aa","mac":"x"}}"#), .badValue(key: "mac")),
        ("a group as filter", datagram(#"{"probe":{"nonce":"00000000000000aa","mac":"ff:ff:ff:ff:ff:ff"}}"#), .badValue(key: "mac")),
        ("a bad known", datagram(#"{"probe":{"nonce":"00000000000000aa","known":[1]}}"#), .badValue(key: "known")),
        ("a bad wait", datagram(#"{"probe":{"nonce":"00000000000000aa","maxWait":"1"}}"#), .badValue(key: "maxWait")),
        ("id 0 in a probe", datagram(#"{"probe":{"nonce":"00000000000000aa"}}"#, msgId: 0), .zeroMessageId),
        ("id 0 in a reply", datagram(reply + "}}", msgId: 0), .zeroMessageId),
        ("no mac", datagram(#"{"reply":{"nonce":"00000000000000aa","tcp":1,"versions":[1]}}"#), .missingKey("mac")),
        ("a zero mac", datagram(#"{"announce":{"mac":"00:00:00:00:00:00","tcp":1,"versions":[1]}}"#), .badValue(key: "mac")),
        ("no tcp", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","versions":[1]}}"#), .missingKey("tcp")),
        ("port 0", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","tcp":0,"versions":[1]}}"#), .badValue(key: "tcp")),
        ("port 65536", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","tcp":65536,"versions":[1]}}"#), .badValue(key: "tcp")),
        ("no versions", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","tcp":1}}"#), .missingKey("versions")),
        (
            "no version in versions", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","tcp":1,"versions":[]}}"#),
            .badValue(key: "versions")
        ),
        ("version 0", datagram(#"{"announce":{"mac":"02:00:5e:00:53:01","tcp":1,"versions":[0]}}"#), .badValue(key: "versions")),
        ("a bye of nobody", datagram(#"{"bye":{}}"#), .missingKey("mac")),
        ("too long", [UInt8](repeating: 0, count: 1473), .tooLong(byteCount: 1473)),
    ]

    @Test("an invalid datagram has its reason", arguments: invalid)
    func rejects(name: String, bytes: [UInt8], reason: DatagramError) {
        #expect(throws: reason, "\(name)") { try Self.parse(bytes) }
    }

    @Test func `a probe of more than 64 known routers is invalid`() {
        let list = (0..<65).map { "\"\(Self.mac.advanced(by: $0))\"" }.joined(separator: ",")
        #expect(throws: DatagramError.badValue(key: "known")) {
            try Self.parse(Self.datagram(#"{"probe":{"nonce":"00000000000000aa","known":[\#(list)]}}"#))
        }
    }

    @Test func `a wait is kept in its range`() throws {
        for (asked, kept) in [("-5", 0), ("0", 0), ("2000", 2000), ("99999999999", 2000)] {
            guard
                case .probe(let probe) = try Self.parse(Self.datagram(#"{"probe":{"nonce":"00000000000000aa","maxWait":\#(asked)}}"#))
                    .message
            else { return #expect(Bool(false)) }
            #expect(probe.maxWaitMilliseconds == kept)
        }
    }

    @Test func `a placeholder for a BSSID reads as none`() throws {
        for text in ["", "<redacted>", "02:00:00:00:00:00", "00:00:00:00:00:00"] {
            let bytes = Self.datagram(#"{"probe":{"nonce":"00000000000000aa","bssid":"\#(text)"}}"#)
            #expect(try Self.parse(bytes).message == .probe(Probe(nonce: HexToken(0xAA), maxWaitMilliseconds: 0)))
        }
    }

    @Test func `optional members of a wrong type read as absent`() throws {
        let strange = Self.reply + #","name":7,"vendor":null,"tls":"yes","boot":"zz","uptime":-4,"radios":{"a":1},"mld":"x"}}"#
        let expected = RouterDescription(mac: Self.mac, tcp: 1)
        #expect(try Self.parse(Self.datagram(strange)).message == .reply(nonce: HexToken(0xAA), expected))
    }

    @Test func `placeholders among the radios are left out`() throws {
        let radios =
            #","radios":[{"bssid":"02:00:00:00:00:00"},{"bssid":"x"},{"ssid":"y"},{"bssid":"02:00:5e:00:53:11"}],"mld":["ff:ff:ff:ff:ff:ff"]}}"#
        let expected = RouterDescription(mac: Self.mac, tcp: 1, radios: [.init(bssid: Self.bssid)])
        #expect(try Self.parse(Self.datagram(Self.reply + radios)).message == .reply(nonce: HexToken(0xAA), expected))
    }

    @Test func `names can't speak to a terminal`() throws {
        let name = #","name":"A\u001b[31mB\u0007\u202eC\u0085\u2028D\r\nÄ 👩‍🚀"}}"#
        guard case .reply(_, let router) = try Self.parse(Self.datagram(Self.reply + name)).message else { return #expect(Bool(false)) }
        #expect(router.name == "A\u{FFFD}[31mB\u{FFFD}\u{FFFD}C\u{FFFD}\u{FFFD}D\u{FFFD}\u{FFFD}Ä 👩‍🚀")
    }

    @Test func `names are cut between characters`() {
        let router = RouterDescription(
            mac: Self.mac, name: String(repeating: "ä", count: 100),
            radios: [.init(bssid: Self.bssid, ssid: String(repeating: "€", count: 20))])
        #expect(router.name == String(repeating: "ä", count: 32))
        #expect(router.radios[0].ssid == String(repeating: "€", count: 10))
    }

    @Test func `random bytes and every cut and flip of a reply are read or refused`() {
        var generator = SeededGenerator(seed: 4)
        let whole = DiscoveryDatagram(msgId: 5, .reply(nonce: HexToken(3), Self.router)).encoded()
        for length in 0..<whole.count {
            #expect(throws: DatagramError.self) { try Self.parse(Array(whole[..<length])) }
            var flipped = whole
            flipped[length] ^= UInt8(1 << generator.next() % 8)
            _ = try? Self.parse(flipped)
        }
        for _ in 0..<500 {
            let noise = (0..<Int(generator.next() % 1500)).map { _ in UInt8(truncatingIfNeeded: generator.next()) }
            #expect(throws: DatagramError.self) { try Self.parse(noise) }
        }
    }
}
