import Testing

@testable import WifiDiscovery

@Suite struct MACAddressTests {
    static let address = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x01)

    @Test(
        "every accepted spelling is read and printed in colon form",
        arguments: [
            "02:00:5e:00:53:01", "02-00-5e-00-53-01", "02 00 5e 00 53 01", "0200.5e00.5301", "02005e005301", "02:00:5E:00:53:01",
            "02005E005301",
            "0200.5E00.5301", "2:0:5e:0:53:1", "2-0-5E-0-53-1", "02\\:00\\:5e\\:00\\:53\\:01",
        ])
    func accepted(spelling: String) throws {
        let read = try MACAddress(parsing: spelling)
        #expect(read == Self.address)
        #expect(read.description == "02:00:5e:00:53:01")
        #expect(MACAddress(read.description) == read)
    }

    static let rejected: [(String, MACAddressError)] = [
        ("02:00:5e:00:53", .groupCount(5)),
        ("02:00:5e:00:53:01:02", .groupCount(7)),
        ("02:00:5e-00:53:01", .mixedSeparators),
        ("02\\:00:5e:00:53:01", .mixedSeparators),
        ("0200.5e00:5301", .mixedSeparators),
        ("0x02005e005301", .notHex(offset: 1)),
        ("0x2:0:5e:0:53:1", .notHex(offset: 1)),
        ("02::5e:00:53:01", .groupLength(group: 1, digits: 0)),
        ("02:00:5e:00:53:", .groupLength(group: 5, digits: 0)),
        (":02:00:5e:00:53", .groupLength(group: 0, digits: 0)),
        ("002:00:5e:00:53:01", .groupLength(group: 0, digits: 3)),
        ("0g:00:5e:00:53:01", .notHex(offset: 1)),
        ("02005e00530", .digitCount(11)),
        ("02005e0053011", .digitCount(13)),
        ("200.5e00.5301", .groupLength(group: 0, digits: 3)),
        ("0200.5e00.5301.0000", .groupCount(4)),
        ("0200.5e00", .groupCount(2)),
        ("", .digitCount(0)),
        (" 02 00 5e 00 53 01", .groupCount(7)),
        ("02:00:5e:00:53:01\n", .notHex(offset: 17)),
        ("02:00:5e:00:53:０1", .notHex(offset: 15)),
        ("\\", .notHex(offset: 0)),
        (#"02\00\5e\00\53\01"#, .notHex(offset: 2)),
        (String(repeating: "0", count: 100_000), .digitCount(100_000)),
    ]

    @Test("everything else is rejected with its reason", arguments: rejected)
    func rejects(spelling: String, reason: MACAddressError) {
        #expect(throws: reason) { try MACAddress(parsing: spelling) }
        #expect(MACAddress(spelling) == nil)
        #expect(!reason.description.isEmpty)
    }

    @Test func `all-zero, broadcast and group addresses are no device's`() {
        #expect(!MACAddress.zero.isUsableAsDevice)
        #expect(!MACAddress.broadcast.isUsableAsDevice)
        #expect(!MACAddress(0x01, 0, 0x5E, 0, 0, 1).isUsableAsDevice)
        #expect(Self.address.isUsableAsDevice)
        #expect(MACAddress.redacted.isUsableAsDevice)
    }

    @Test(
        "a BSSID that means unknown is no value",
        arguments: ["", "<redacted>", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff", "2:0:0:0:0:0", "03:00:5e:00:53:01"])
    func placeholder(text: String) throws {
        #expect(try MACAddress.bssid(parsing: text) == nil)
    }

    @Test func `a BSSID is read like any address`() throws {
        #expect(try MACAddress.bssid(parsing: "2:0:5e:0:53:1") == Self.address)
        #expect(throws: MACAddressError.digitCount(4)) { try MACAddress.bssid(parsing: "dead") }
    }

    @Test func `bits are told by their octet`() {
        #expect(Self.address.isLocallyAdministered)
        #expect(!MACAddress(0x04, 0, 0, 0, 0, 1).isLocallyAdministered)
        #expect((0..<6).map(Self.address.octet) == [0x02, 0, 0x5E, 0, 0x53, 0x01])
    }

    @Test func `a series wraps within its lower half`() {
        #expect(MACAddress(2, 0, 0x5E, 0, 0x53, 0xFF).advanced(by: 1) == MACAddress(2, 0, 0x5E, 0, 0x54, 0))
        #expect(MACAddress(2, 0, 0x5E, 0xFF, 0xFF, 0xFF).advanced(by: 2) == MACAddress(2, 0, 0x5E, 0, 0, 1))
        #expect(MACAddress(2, 0, 0x5E, 0, 0, 0).advanced(by: -1) == MACAddress(2, 0, 0x5E, 0xFF, 0xFF, 0xFF))
    }

    @Test("a token is 16 hex digits", arguments: ["0123456789abcdef", "0123456789ABCDEF"])
    func token(text: String) {
        #expect(HexToken(text)?.value == 0x0123_4567_89AB_CDEF)
        #expect(HexToken(text)?.description == "0123456789abcdef")
    }

    @Test("anything else is no token", arguments: ["", "0123456789abcde", "0123456789abcdef0", "0x23456789abcdef", "0123456789abcdeg"])
    func noToken(text: String) {
        #expect(HexToken(text) == nil)
    }
}
