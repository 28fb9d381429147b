import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct LinkGradeTests {
    struct Relation: CustomStringConvertible, Sendable {
        let description: String
        let mac: String
        var radios: [String] = []
        var mld: [String] = []
        let link: [String]
        let grade: LinkGrade
        let rule: Grading.Rule
        var distance: Int?
        var isWeak = false

        var grading: Grading {
            let address = { (text: String) in MACAddress(text) ?? .zero }
            let router = RouterDescription(mac: address(mac), radios: radios.map { .init(bssid: address($0)) }, mld: mld.map(address))
            return Grading.of(router, link: link.map(address))
        }
    }

    // Documentation addresses (RFC 7042), related as routers ship them.
    static let relations: [Relation] = [
        Relation(
            description: "LAN MAC is the BSSID", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:01"], grade: .exact, rule: .sameMAC,
            distance: 0),
        Relation(
            description: "exact beats radio", mac: "00:00:5e:00:53:01", radios: ["00:00:5e:00:53:01"], link: ["00:00:5e:00:53:01"],
            grade: .exact,
            rule: .sameMAC, distance: 0),
        Relation(
            description: "a told radio", mac: "00:00:5e:00:53:01", radios: ["00:00:5e:00:53:05", "06:11:22:33:44:55"],
            link: ["06:11:22:33:44:55"],
            grade: .radio, rule: .sameBSSID, distance: 0),
        Relation(
            description: "the MLD address", mac: "00:00:5e:00:53:01", mld: ["02:00:5e:00:53:1f"],
            link: ["02:aa:bb:cc:dd:ee", "02:00:5e:00:53:1f"], grade: .radio, rule: .sameMLD, distance: 0),
        Relation(description: "+1", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:02"], grade: .family, rule: .nearby, distance: 1),
        Relation(description: "-1", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:00"], grade: .family, rule: .nearby, distance: 1),
        Relation(description: "+4", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:05"], grade: .family, rule: .nearby, distance: 4),
        Relation(
            description: "+5 is weak", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:06"], grade: .family, rule: .nearby, distance: 5,
            isWeak: true),
        Relation(
            description: "+16 is weak", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:11"], grade: .family, rule: .nearby, distance: 16,
            isWeak: true),
        Relation(
            description: "+17 is a vendor", mac: "00:00:5e:00:53:01", link: ["00:00:5e:00:53:12"], grade: .vendor, rule: .sameOUI,
            distance: 17),
        Relation(
            description: "over an octet's border", mac: "00:00:5e:00:53:ff", link: ["00:00:5e:00:54:01"], grade: .family, rule: .nearby,
            distance: 2),
        Relation(
            description: "local bit alone", mac: "00:00:5e:00:53:01", link: ["02:00:5e:00:53:01"], grade: .family, rule: .localBit,
            distance: 0),
        Relation(
            description: "local bit and +1", mac: "00:00:5e:00:53:01", link: ["02:00:5e:00:53:02"], grade: .family, rule: .nearby,
            distance: 1),
        Relation(
            description: "octet 0 raised by a guest network", mac: "00:00:5e:00:53:01", link: ["0a:00:5e:00:53:01"], grade: .family,
            rule: .localBit,
            distance: 0),
        Relation(
            description: "octet 0 raised and +2", mac: "00:00:5e:00:53:01", link: ["0e:00:5e:00:53:03"], grade: .family,
            rule: .localBitNearby,
            distance: 2),
        Relation(
            description: "octet 0 raised and +9 is weak", mac: "00:00:5e:00:53:01", link: ["0e:00:5e:00:53:0a"], grade: .family,
            rule: .localBitNearby,
            distance: 9, isWeak: true),
        Relation(
            description: "another octet 0 without a local bit", mac: "00:00:5e:00:53:01", link: ["08:00:5e:00:53:01"], grade: .none,
            rule: .unrelated),
        Relation(
            description: "top nibble of octet 3", mac: "00:00:5e:00:53:01", link: ["00:00:5e:80:53:02"], grade: .family, rule: .bandOctet,
            distance: 1),
        Relation(
            description: "bits 2 to 4 of octet 3", mac: "00:00:5e:00:53:01", link: ["00:00:5e:1c:53:01"], grade: .family, rule: .bandOctet,
            distance: 0),
        Relation(
            description: "other bits of octet 3", mac: "00:00:5e:00:53:01", link: ["00:00:5e:03:53:01"], grade: .vendor, rule: .sameOUI,
            distance: 0x03_0000),
        Relation(
            description: "octet 3 and octet 4", mac: "00:00:5e:00:53:01", link: ["00:00:5e:80:54:01"], grade: .vendor, rule: .sameOUI,
            distance: 0x80_0100),
        Relation(
            description: "octet 3 and 5 away", mac: "00:00:5e:00:53:01", link: ["00:00:5e:80:53:06"], grade: .vendor, rule: .sameOUI,
            distance: 0x80_0005),
        Relation(description: "another brand", mac: "00:00:5e:00:53:01", link: ["00:11:22:00:53:01"], grade: .none, rule: .unrelated),
        Relation(
            description: "near a radio, far from the MAC", mac: "00:00:5e:00:53:01", radios: ["00:00:5e:00:53:40"],
            link: ["02:00:5e:00:53:41"],
            grade: .family, rule: .nearby, distance: 1),
        Relation(
            description: "the best of several links", mac: "00:00:5e:00:53:01", link: ["00:11:22:33:44:55", "00:00:5e:00:53:03"],
            grade: .family,
            rule: .nearby, distance: 2),
        Relation(description: "wired", mac: "00:00:5e:00:53:01", link: [], grade: .unknown, rule: .noLink),
        Relation(
            description: "placeholders only", mac: "00:00:5e:00:53:01",
            link: ["02:00:00:00:00:00", "00:00:00:00:00:00", "ff:ff:ff:ff:ff:ff"],
            grade: .unknown, rule: .noLink),
        Relation(
            description: "a placeholder beside a BSSID", mac: "00:00:5e:00:53:01", link: ["02:00:00:00:00:00", "00:00:5e:00:53:01"],
            grade: .exact,
            rule: .sameMAC, distance: 0),
    ]

    @Test("real relations have their grade", arguments: relations)
    func grades(relation: Relation) {
        let expected = Grading(relation.grade, relation.rule, distance: relation.distance)
        #expect(relation.grading == expected, "\(relation)")
        #expect(relation.grading.isWeak == relation.isWeak)
    }

    @Test("the order of addresses has no influence", arguments: relations)
    func orderless(relation: Relation) {
        let turned = Relation(
            description: relation.description, mac: relation.mac, radios: relation.radios.reversed(), mld: relation.mld.reversed(),
            link: relation.link.reversed(), grade: relation.grade, rule: relation.rule)
        #expect(turned.grading == relation.grading)
    }

    @Test func `relations are the same seen from both sides`() {
        var generator = SeededGenerator(seed: 11)
        for _ in 0..<2000 {
            let base = generator.next()
            let other = base ^ (generator.next() & generator.next() & generator.next() & generator.next())
            let (left, right) = (MACAddress(bits: base & ~(1 << 40)), MACAddress(bits: other & ~(1 << 40)))
            #expect(AddressRelation(left, right).grading == AddressRelation(right, left).grading, "\(left) \(right)")
        }
    }

    @Test func `grades are ordered best first`() {
        #expect(LinkGrade.allCases == [.exact, .radio, .family, .vendor, .none, .unknown])
        #expect(LinkGrade.allCases == LinkGrade.allCases.sorted())
    }
}
