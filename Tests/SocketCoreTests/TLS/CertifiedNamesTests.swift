import Testing

@testable import SocketCore

struct CertifiedNamesTests {
    @Test(arguments: [
        "urn:dev:org:32473-mac:02005e005301", "URN:DEV:org:1-x", "urn:dev:org:4294967295-a.b-c:d_part_other",
        "urn:dev:org:32473-mac-like:x",
    ])
    func `a name by the grammar is read`(uri: String) throws {
        let name = try #require(DeviceURN(uri))
        #expect(name.description.lowercased() == uri.lowercased())
    }

    @Test(arguments: [
        "", "urn:dev:", "urn:dev:org:", "urn:dev:org:32473", "urn:dev:org:32473-", "urn:dev:org:0-a", "urn:dev:org:01-a",
        "urn:dev:org:4294967296-a", "urn:dev:org:-1-a", "urn:dev:org:+1-a", "urn:dev:org:1-a:", "urn:dev:org:1-:a", "urn:dev:org:1-a_",
        "urn:dev:org:1-a b", "urn:dev:org:1-a,b", "urn:dev:org:1-ä", "urn:dev:ORG:1-a", "urn:dev:mac:02005e005301", "urn:uuid:1",
        "xurn:dev:org:1-a",
        "urn:dev:org:1-a/b", "urn:dev:org:1-a\0",
    ])
    func `everything else isn't`(uri: String) { #expect(DeviceURN(uri) == nil) }

    @Test func `MAC, radios and operators are found, in either case, and other names ignored`() {
        let names = CertifiedNames(uris: [
            "https://example.org/", "urn:dev:org:32473-mac:02005E005301", "urn:dev:org:32473-bssid:02005e005311",
            "urn:dev:org:32473-bssid:02005e005312", "urn:dev:org:32473-serial:ABC-1", "urn:dev:mac:acde48234567019f", "urn:dev:org:1-a:b:c",
        ])
        #expect(names.deviceAddresses == [0x0200_5E00_5301])
        #expect(names.radioAddresses == [0x0200_5E00_5311, 0x0200_5E00_5312])
        #expect(names.operators.isEmpty && names.enterprise == 32_473 && names.problem == nil)
        #expect(CertifiedNames(uris: ["urn:dev:org:1-operator:a.b-c"]).operators == ["a.b-c"])
    }

    @Test(arguments: [
        "urn:dev:org:1-mac:02005e00530", "urn:dev:org:1-mac:02005e0053011", "urn:dev:org:1-mac:02005e00530g",
        "urn:dev:org:1-mac:+2005e005301",
        "urn:dev:org:1-mac:", "urn:dev:org:1-mac:02:00:5e:00:53:01", "urn:dev:org:1-mac:02005e005301_radio",
        "urn:dev:org:1-mac:02005e005301:1",
        "urn:dev:org:1-bssid:x y", "urn:dev:org:1-operator", "urn:dev:org:1-mac",
    ])
    func `a name of ours that can't be read is a problem, not an unknown name`(uri: String) {
        let names = CertifiedNames(uris: [uri])
        #expect(names.problem != nil)
        #expect(names.deviceAddresses.isEmpty && names.radioAddresses.isEmpty && names.operators.isEmpty)
    }

    @Test func `nine radios are too many, and two companies' names don't go together`() {
        let radios = (1...9).map { "urn:dev:org:1-bssid:02005e00530\($0)" }
        #expect(CertifiedNames(uris: Array(radios.prefix(8))).problem == nil)
        #expect(CertifiedNames(uris: radios).problem == .tooManyRadios(9))
        let mixed = ["urn:dev:org:1-mac:02005e005301", "urn:dev:org:2-bssid:02005e005311"]
        #expect(CertifiedNames(uris: mixed).problem == .severalEnterprises)
        let own = CertifiedNames(uris: mixed, enterprise: 1)
        #expect(own.problem == nil && own.deviceAddresses.count == 1 && own.radioAddresses.isEmpty)
    }

    @Test func `names are written as they're read`() throws {
        let uri = try #require(CertifiedNames.deviceURI(0x0200_5E00_5301, enterprise: 32_473))
        #expect(uri == "urn:dev:org:32473-mac:02005e005301")
        #expect(CertifiedNames(uris: [uri]).deviceAddresses == [0x0200_5E00_5301])
        #expect(CertifiedNames.operatorURI("a b", enterprise: 1) == nil)
        #expect(CertifiedNames.radioURI(1, enterprise: 7) == "urn:dev:org:7-bssid:000000000001")
    }

    @Test func `civil time is counted both ways`() {
        #expect(WallTime(year: 1_970, month: 1, day: 1).seconds == 0)
        #expect(WallTime(year: 2_000, month: 3, day: 1).seconds == 951_868_800)
        #expect(WallTime.noExpiry.seconds == 253_402_300_799)
        #expect(WallTime.noExpiry.description == "9999-12-31T23:59:59Z")
        #expect(WallTime(seconds: -1).description == "1969-12-31T23:59:59Z")
        for day in stride(from: Int64(-700_000), to: 2_900_000, by: 997) {
            let time = WallTime(seconds: day * 86_400 + 3_661)
            let parts = time.day.split(separator: "-", omittingEmptySubsequences: true).compactMap { Int($0) }
            guard parts.count == 3, parts[0] > 0 else { continue }
            #expect(WallTime(year: parts[0], month: parts[1], day: parts[2], hour: 1, minute: 1, second: 1) == time)
        }
    }
}
