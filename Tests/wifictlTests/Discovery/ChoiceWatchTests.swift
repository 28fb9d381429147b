import SocketCore
import Testing
import WifiDiscovery

@testable import wifictl

@Suite struct ChoiceWatchTests {
    private static let gradings = [
        Grading(.exact, .sameMAC, distance: 0), Grading(.radio, .sameBSSID, distance: 0), Grading(.family, .nearby, distance: 1),
        Grading(.family, .nearby, distance: 4), Grading(.family, .nearby, distance: 9), Grading(.vendor, .sameOUI, distance: 99),
        Grading(.none, .unrelated, distance: nil), Grading(.unknown, .noLink, distance: nil),
    ]

    @Test("a choice that isn't made anew is the one that would be made", arguments: 0..<40 as Range<UInt64>)
    func agrees(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (watch, all, last) = (ChoiceWatch<MACAddress>(), [MACAddress: Selection.Candidate](), Selection(nil, .none, .none))
        for step in 0..<300 {
            let mac = MACAddress(0, 0, 0x5E, 0, 0x53, UInt8(Int.random(in: 1...5, using: &generator)))
            var candidate: Selection.Candidate?
            if !generator.chance(0.3) {
                let evidence = Evidence(
                    gateway: generator.chance(0.2), neighbour: generator.chance(0.3) ? .match : .unknown,
                    seesStation: generator.chance(0.1) ? true : nil)
                candidate = Selection.Candidate(
                    mac: mac, grading: Self.gradings.randomElement(using: &generator) ?? Self.gradings[0], evidence: evidence,
                    isConflicted: generator.chance(0.1))
            }
            all[mac] = candidate
            watch.set(mac, candidate)
            if watch.mayHaveChanged { last = watch.choose() }
            let isAlone = all.count == 1
            let whole = Selection.choose(
                among: all.values.map { one in
                    var judged = one
                    judged.evidence.onlyResponder = isAlone
                    return judged
                })
            #expect(last == whole, "seed \(seed), step \(step)")
        }
    }
}
