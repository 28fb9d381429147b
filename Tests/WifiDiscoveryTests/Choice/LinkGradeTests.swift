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

    /// Addresses counted up or down within one device, burnt in or with the U/L bit that a further network of a radio has.
    static let counted: [Relation] = [-4, -3, -2, -1, 1, 2, 3, 4].flatMap { step in
        [(0x00, "burnt in"), (0x02, "with the U/L bit")].map { octet, words in
            Relation(
                description: "\(step), \(words)", mac: "00:00:5e:00:53:10", link: [shifted(octet, by: step)], grade: .family, rule: .nearby,
                distance: abs(step))
        }
    }

    /// Octet 0 raised by guest networks, as far as they go: 02, 06, 0a … 1e, with the rest equal or counted up.
    static let raised: [Relation] = stride(from: 0x06, through: 0x1E, by: 4).flatMap { octet in
        (-4...4).map { step in
            Relation(
                description: "octet 0 is \(octet), \(step)", mac: "00:00:5e:00:53:10", link: [shifted(octet, by: step)], grade: .family,
                rule: step == 0 ? .localBit : .localBitNearby, distance: abs(step))
        }
    }

    /// Octet 3 changed by two-band chips, in its top nibble or in bits 2 to 4; octet 5 counted up; burnt in or with the U/L bit.
    static let bands: [Relation] = ((1...15).map { $0 << 4 } + (1...7).map { $0 << 2 }).flatMap { change in
        [(0x00, 0), (0x00, 4), (0x02, 1), (0x02, -4)].map { octet, step in
            let text = shifted(octet, by: step).split(separator: ":").map(String.init)
            let third = String(change, radix: 16)
            let link = (text[..<3] + [third.count == 1 ? "0" + third : third] + text[4...]).joined(separator: ":")
            return Relation(
                description: "octet 3 by \(change), \(step)", mac: "00:00:5e:00:53:10", link: [link], grade: .family, rule: .bandOctet,
                distance: abs(step))
        }
    }

    /// 00:00:5e:00:53:10 with another octet 0, and counted on.
    private static func shifted(_ octet: Int, by step: Int) -> String {
        "\(MACAddress(bits: UInt64(octet) << 40 | 0x5E00_5310).advanced(by: step))"
    }

    /// As routers have been seen to ship them: LAN port, the radios that they name, the BSSID that a station sees. All but the told one
    /// are told apart by addresses alone.
    static let shipped: [Relation] = [
        Relation(
            description: "LAN = first 2.4 GHz radio, 5 GHz one further", mac: "00:00:5e:00:53:20", link: ["00:00:5e:00:53:20"],
            grade: .exact,
            rule: .sameMAC, distance: 0),
        Relation(
            description: "LAN, WAN, 2.4 GHz, 5 GHz counted up", mac: "00:00:5e:00:53:20", link: ["00:00:5e:00:53:23"], grade: .family,
            rule: .nearby, distance: 3),
        Relation(
            description: "5 GHz before the LAN port", mac: "00:00:5e:00:53:20", link: ["00:00:5e:00:53:1f"], grade: .family, rule: .nearby,
            distance: 1),
        Relation(
            description: "second network of a told radio", mac: "00:00:5e:00:53:20", radios: ["00:00:5e:00:53:22"],
            link: ["02:00:5e:00:53:22"], grade: .family, rule: .localBit, distance: 0),
        Relation(
            description: "radios from another block of the maker", mac: "00:00:5e:00:53:20", link: ["00:00:5e:a7:11:02"], grade: .vendor,
            rule: .sameOUI, distance: 0xA7_1102 - 0x00_5320),
        Relation(
            description: "radio module of another maker", mac: "00:00:5e:00:53:20", link: ["00:11:22:a7:11:02"], grade: .none,
            rule: .unrelated
        ),
        Relation(
            description: "the same module, but told", mac: "00:00:5e:00:53:20", radios: ["00:11:22:a7:11:02"], link: ["00:11:22:a7:11:02"],
            grade: .radio, rule: .sameBSSID, distance: 0),
    ]

    @Test("real relations have their grade", arguments: relations + counted + raised + bands + shipped)
    func grades(relation: Relation) {
        let expected = Grading(relation.grade, relation.rule, distance: relation.distance)
        #expect(relation.grading == expected, "\(relation)")
        #expect(relation.grading.isWeak == relation.isWeak)
    }

    @Test("the order of addresses has no influence", arguments: relations + shipped)
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
