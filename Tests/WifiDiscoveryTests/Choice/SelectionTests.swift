import SocketCore
import Testing

@testable import WifiDiscovery

@Suite struct SelectionTests {
    typealias Candidate = Selection.Candidate

    static func mac(_ number: Int) -> MACAddress { MACAddress(0, 0, 0x5E, 0, 0x53, UInt8(number)) }
    static let exact = Grading(.exact, .sameMAC, distance: 0)
    static let radio = Grading(.radio, .sameBSSID, distance: 0)
    static let none = Grading(.none, .unrelated, distance: nil)
    static let unknown = Grading(.unknown, .noLink, distance: nil)
    static func family(_ distance: Int) -> Grading { Grading(.family, .nearby, distance: distance) }

    static func candidate(
        _ number: Int, _ grading: Grading, gateway: Bool = false, neighbour: Evidence.Neighbour = .unknown, only: Bool = false,
        conflicted: Bool = false, sees: Bool? = nil
    ) -> Candidate {
        Candidate(
            mac: mac(number), grading: grading,
            evidence: Evidence(gateway: gateway, neighbour: neighbour, onlyResponder: only, seesStation: sees), isConflicted: conflicted)
    }

    struct Case: CustomStringConvertible, Sendable {
        let description: String
        let candidates: [Candidate]
        let chosen: Int?
        let why: Selection.Why
        let certainty: Selection.Certainty

        init(_ description: String, _ candidates: [Candidate], _ chosen: Int?, _ why: Selection.Why, _ certainty: Selection.Certainty) {
            self.description = description
            self.candidates = candidates
            self.chosen = chosen
            self.why = why
            self.certainty = certainty
        }
    }

    static let cases: [Case] = [
        Case("nobody", [], nil, .none, .none),
        Case("one exact", [candidate(1, exact), candidate(2, none, gateway: true)], 1, .exact, .certain),
        Case("exact before radio", [candidate(1, radio, gateway: true), candidate(2, exact)], 2, .exact, .certain),
        Case("one radio", [candidate(1, radio), candidate(2, family(0), gateway: true)], 1, .radio, .certain),
        Case("two claims", [candidate(1, exact), candidate(2, exact)], nil, .conflict, .none),
        Case(
            "two claims, one neighbour", [candidate(1, exact, gateway: true), candidate(2, exact, neighbour: .match)], 2, .exact, .probable),
        Case("two claims, one gateway", [candidate(1, radio), candidate(2, radio, gateway: true)], 2, .radio, .probable),
        Case(
            "two neighbours, one gateway",
            [candidate(1, radio, neighbour: .match), candidate(2, radio, gateway: true, neighbour: .match)], 2, .radio, .probable),
        Case(
            "two neighbours, two gateways",
            [candidate(1, exact, gateway: true, neighbour: .match), candidate(2, exact, gateway: true, neighbour: .match)], nil, .conflict,
            .none),
        Case("two exact claims hide a radio", [candidate(1, exact), candidate(2, exact), candidate(3, radio)], nil, .conflict, .none),
        Case("a mismatch doesn't remove the only claim", [candidate(1, exact, neighbour: .mismatch)], 1, .exact, .certain),
        Case("two devices of one MAC", [candidate(1, exact, gateway: true, neighbour: .match, conflicted: true)], nil, .conflict, .none),
        Case(
            "a conflicted claim wins no conflict", [candidate(1, exact, neighbour: .match, conflicted: true), candidate(2, exact)], nil,
            .conflict, .none),
        Case("family and gateway", [candidate(1, family(2), gateway: true), candidate(2, none)], 1, .family, .probable),
        Case("family and neighbour", [candidate(1, family(4), neighbour: .match), candidate(2, none)], 1, .family, .probable),
        Case("family, the only responder", [candidate(1, family(1), only: true)], 1, .family, .probable),
        Case("family without support", [candidate(1, family(0)), candidate(2, none)], nil, .none, .none),
        Case(
            "family without support, another gateway", [candidate(1, family(0)), candidate(2, none, gateway: true)], 2, .gateway, .assumed),
        Case("two families", [candidate(1, family(0), gateway: true), candidate(2, family(4))], 1, .gateway, .assumed),
        Case(
            "two families, no gateway", [candidate(1, family(0), neighbour: .match), candidate(2, family(4), neighbour: .match)], nil,
            .none, .none),
        Case("a weak one two away", [candidate(1, family(3), neighbour: .match), candidate(2, family(5))], 1, .family, .probable),
        Case("a weak one one away", [candidate(1, family(4), neighbour: .match), candidate(2, family(5))], nil, .none, .none),
        Case("weak alone", [candidate(1, family(5), neighbour: .match, only: true)], nil, .none, .none),
        Case("a conflicted family", [candidate(1, family(0), neighbour: .match, conflicted: true)], nil, .none, .none),
        Case("the gateway of a child access point", [candidate(1, none, gateway: true), candidate(2, none)], 1, .gateway, .assumed),
        Case("wired", [candidate(1, unknown, gateway: true), candidate(2, unknown)], 1, .gateway, .assumed),
        Case("two gateways", [candidate(1, none, gateway: true), candidate(2, none, gateway: true)], nil, .none, .none),
        Case("a conflicted gateway", [candidate(1, none, gateway: true, conflicted: true)], nil, .none, .none),
        Case(
            "one serves this station behind a child", [candidate(1, none, gateway: true), candidate(2, none, sees: true)], 2, .station,
            .certain),
        Case(
            "one serves this station, another is near", [candidate(1, family(0), gateway: true), candidate(2, none, sees: true)], 2,
            .station,
            .certain),
        Case(
            "two serve this station", [candidate(1, none, gateway: true, sees: true), candidate(2, none, sees: true)], 1, .gateway, .assumed
        ),
        Case("one doesn't serve it", [candidate(1, none, gateway: true, sees: false)], 1, .gateway, .assumed),
        Case("a radio beats what somebody says", [candidate(1, radio), candidate(2, none, sees: true)], 1, .radio, .certain),
        Case(
            "two claims, one serves this station", [candidate(1, exact, neighbour: .match), candidate(2, exact, sees: true)], 2, .exact,
            .probable),
        Case(
            "a conflicted one serves it", [candidate(1, none, gateway: true), candidate(2, none, conflicted: true, sees: true)], 1,
            .gateway,
            .assumed),
        Case("nothing known", [candidate(1, none), candidate(2, unknown)], nil, .none, .none),
    ]

    @Test("the rule of section 5", arguments: cases)
    func chooses(example: Case) {
        let expected = Selection(example.chosen.map(Self.mac), example.why, example.certainty)
        #expect(Selection.choose(among: example.candidates) == expected, "\(example)")
        #expect(Selection.choose(among: example.candidates.reversed()) == expected, "\(example), turned")
    }

    @Test func `the order of arrival never decides`() {
        let gradings = [Self.exact, Self.radio, Self.none, Self.unknown] + (0...8).map(Self.family)
        var generator = SeededGenerator(seed: 21)
        for round in 0..<400 {
            let all = (0..<Int.random(in: 1...6, using: &generator)).map { number in
                let grading = gradings.randomElement(using: &generator) ?? Self.none
                let neighbour = Evidence.Neighbour.allCases.randomElement(using: &generator) ?? .unknown
                return Self.candidate(
                    number, grading, gateway: generator.chance(0.3), neighbour: neighbour, conflicted: generator.chance(0.1))
            }
            let first = Selection.choose(among: all)
            for _ in 0..<12 { #expect(Selection.choose(among: all.shuffled(using: &generator)) == first, "seed 21, round \(round)") }
            if let mac = first.mac {
                #expect(all.contains { $0.mac == mac && !$0.isConflicted })
                #expect(first.certainty != .none && first.why != .conflict && first.why != .none)
            } else {
                #expect(first.certainty == .none)
            }
        }
    }

    /// How a unit's BSSID may follow from its LAN MAC.
    private static let layouts: [(String, @Sendable (MACAddress) -> MACAddress)] =
        (-4...4).flatMap { step -> [(String, @Sendable (MACAddress) -> MACAddress)] in
            [
                ("\(step)", { $0.advanced(by: step) }),
                ("\(step) and the U/L bit", { MACAddress(bits: $0.advanced(by: step).bits | 0x0200_0000_0000) }),
                ("\(step) and octet 0 raised", { MACAddress(bits: $0.advanced(by: step).bits | 0x0A00_0000_0000) }),
                ("\(step) and octet 3 changed", { MACAddress(bits: $0.advanced(by: step).bits ^ 0x80_0000) }),
            ]
        }

    @Test("neighbouring serial numbers are never chosen between", arguments: 1...16)
    func neighbours(serialStep: Int) {
        // Units of one series, all answering, all honest neighbours: their addresses alone can't tell them apart, whichever of them the
        // station is at. A unit's evidence says nothing about the station.
        for count in 2...4 {
            let units = (0..<count).map { Self.mac(0x40 + $0 * serialStep) }
            for (words, bssid) in Self.layouts {
                for (index, mine) in units.enumerated() {
                    let link = [bssid(mine)]
                    let candidates = units.map { mac in
                        Candidate(
                            mac: mac, grading: Grading.of(RouterDescription(mac: mac), link: link), evidence: Evidence(neighbour: .match))
                    }
                    let chosen = Selection.choose(among: candidates)
                    let isSerialsOwn = units.contains(bssid(mine))
                    if let mac = chosen.mac, chosen.why == .family {
                        #expect(mac == mine, "step \(serialStep), \(count) units, \(words), \(index)")
                    }
                    // A BSSID that is a neighbour's LAN MAC can't be told from that neighbour's own: such a series has to name its radios.
                    if chosen.mac != nil, chosen.mac != mine { #expect(isSerialsOwn, "step \(serialStep), \(words), \(index)") }
                }
            }
        }
    }

    @Test func `a series that names its radios is told apart, whatever its numbers`() {
        for step in 1...8 {
            let units = (0..<3).map { Self.mac(0x40 + $0 * step) }
            let radios = units.map { MACAddress(bits: $0.advanced(by: 1).bits | 0x0200_0000_0000) }
            for mine in units.indices {
                let candidates = units.indices.map { index in
                    let router = RouterDescription(mac: units[index], radios: [.init(bssid: radios[index])])
                    return Candidate(
                        mac: units[index], grading: Grading.of(router, link: [radios[mine]]), evidence: Evidence(neighbour: .match))
                }
                #expect(Selection.choose(among: candidates) == Selection(units[mine], .radio, .certain), "step \(step), unit \(mine)")
            }
        }
    }
}
