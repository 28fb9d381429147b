import FrameCodec
import SocketCore
import Testing

@testable import WifiDiscovery
@testable import wifictl

/// What terminals of few columns show.
@Suite struct NarrowTests {
    private static func router(_ number: UInt8, _ name: String, _ grading: Grading) -> FoundRouter {
        let mac = MACAddress(2, 0, 0x5E, 0, 0x53, number)
        let description = RouterDescription(mac: mac, name: name, vendor: "Example", model: "Simulated AX-2", tcp: 19_500 + UInt16(number))
        return FoundRouter(
            discovered: DiscoveredRouter(router: description, place: .init(.v4(192, 168, 100, number), interface: 2)), grading: grading,
            evidence: Evidence(gateway: number == 1, neighbour: .repeaterSuspected), interface: "wlan0")
    }

    private static let gradings = [
        Grading(.radio, .sameBSSID, distance: 0), Grading(.exact, .sameMAC, distance: 0), Grading(.family, .localBitNearby, distance: 3),
        Grading(.unknown, .noLink, distance: nil),
    ]

    private static func findings(verdicts: Bool, dialects: Bool) -> DiscoverFindings {
        let asked: Set<Dialect> = dialects ? Set(Dialect.allCases) : [.native]
        var findings = DiscoverFindings(asked, native: nil, foreign: nil)
        let routers = gradings.enumerated().map { router(UInt8($0 + 1), "A router in the attic", $1) }
        findings.rows = routers.map { .native($0, also: dialects ? [.ssdp, .mdns, .mndp] : []) }
        findings.selection = Selection(routers[0].mac, .radio, .certain)
        guard verdicts else { return findings }
        let judged = routers.map { router in
            let judgement = Judgement(.unproven(.plaintext), "it offers no TLS")
            return (router.mac, RouterVerifier.Finding(subject: .init(router), endpoint: router.endpoint, judgement: judgement))
        }
        findings.verdicts = DiscoverVerdicts(Dictionary(judged) { first, _ in first }, hasRoot: true)
        return findings
    }

    @Test(arguments: [60, 80, 100, 120], [false, true])
    func `a table of routers fits, and grade and verdict stay whole words`(width: Int, dialects: Bool) {
        for verdicts in [false, true] {
            let output = Output(mode: .text, verbosity: .normal)
            let table = DiscoverView(output: output).table(Self.findings(verdicts: verdicts, dialects: dialects))
            let lines = table.lines(width: width, painted: false)
            #expect(lines.allSatisfy { DisplayWidth.of($0) <= width }, "\(width): \(lines)")
            #expect(lines[0].contains("NAME") && lines[0].contains("GRADE") && lines[0].contains("VERDICT") == verdicts)
            // Without proof the first is the chosen one; with a root nobody is, and the best grade comes first.
            let order = verdicts ? ["exact", "radio", "family", "unknown"] : ["radio", "exact", "family", "unknown"]
            for (line, word) in zip(lines.dropFirst(), order) { #expect(line.contains(word), "\(line)") }
            if verdicts { #expect(lines.dropFirst().allSatisfy { $0.contains("unproven") }, "\(lines)") }
            // Nothing is shortened to a stump for the sake of what describes the device.
            if lines.contains(where: { $0.contains("family…") || $0.contains("unprov…") }) { Issue.record("\(lines)") }
            if lines[0].contains("DEVICE") { #expect(!lines[1...].contains { $0.contains("radio: …") }) }
        }
        let plain = DiscoverView(output: Output(mode: .text, verbosity: .normal)).table(Self.findings(verdicts: false, dialects: false))
        #expect(
            plain.lines(width: 80, painted: false)[1].contains("radio: same BSSID")
                || plain.lines(width: 80, painted: false)[1].contains("exact: same MAC"))
    }

    @Test(arguments: [60, 80, 100, 140])
    func `frames fit, with or without what stands in front of them`(width: Int) {
        let body = Array(#"{"op":"get","names":["wifi.ssid","clients"],"more":"and more of it, so that it is long"}"#.utf8)
        let row = FrameRow(offset: 4_294_967_295, FrameHeader(msgId: 4_294_967_295, version: 1, bodyLength: body.count), body.span.bytes)
        for start in ["", "12:00:00.123   1 srv "] {
            #expect(DisplayWidth.of(row.text(width: width, behind: start)) <= width)
            #expect(DisplayWidth.of(FrameRow.titles(width: width, behind: start)) <= width)
        }
        if width >= 80 { #expect(row.text(width: width, behind: "12:00:00.123   1 srv ").contains(#"{"op":"#)) }
    }

    @Test func `the router's log keeps its columns`() {
        let moments: [Duration] = [
            .milliseconds(3), .milliseconds(900), .seconds(59), .seconds(129), .seconds(130), .seconds(3_599), .seconds(36_000),
        ]
        for moment in moments { #expect(RouterLog.moment(moment).count <= RouterLog.momentWidth, "\(RouterLog.moment(moment))") }
        #expect(RouterLog.moment(.seconds(129)) == "2:09" && RouterLog.moment(.seconds(130)) == "2:10")
    }

    @Test(arguments: [60, 80])
    func `the doctor's advice, the checklist and what came of it go on below between two words`(width: Int) async throws {
        let written = Written()
        let output = Output(mode: .text, verbosity: .normal, to: written.target(width))
        let advice = "the access point may keep its stations apart: try wifictl discover --to ADDR, or a cable to the router itself"
        let detail = "the self-probe over multicast was lost on its way through this machine, by unicast it wasn't"
        let findings = [DoctorFinding(.selfProbe, "wlan0", .cause, detail, advice: advice)]
        DoctorReport.text(NetworkDoctor.Report(findings: findings, others: [], wireless: WirelessReport(interfaces: [])), output)
        let arguments = try Command.conform.parser.parse(["--list"])
        let context = try Context(arguments, output: output, cancellation: CancellationSignal(), environment: { _ in "/nowhere" })
        #expect(try await Command.conform.run(arguments, context) == .success)
        let report = ConformReport(target: Endpoint(.loopback, port: 1), output: output)
        for rule in ConformRule.all {
            for finding in [ConformFinding.pass("in time"), .fail(detail), .skipped(advice)] { report.show(rule, finding) }
        }
        let lines = written.lines
        #expect(lines.count > 3 * ConformRule.all.count)
        for line in lines { #expect(DisplayWidth.of(line) <= width, "\(line)") }
        let shoulds = ConformRule.all.count { !$0.isMust }
        #expect(lines.count { $0.hasPrefix("miss    ") } == shoulds && lines.contains { $0.hasPrefix("fail    ") })
    }

    @Test func `sentences and remarks go on below between two words`() {
        let written = Written()
        let output = Output(mode: .text, verbosity: .normal, to: written.target(40))
        output.sentence("Connected to Attic (02:00:5e:00:53:01): its MAC is your access point's address.")
        output.warning("somebody forges replies, and only a verdict tells which are genuine")
        output.remark("  eth0 has no address of the group's family, and isn't asked")
        let lines = written.lines
        #expect(
            lines == [
                "Connected to Attic (02:00:5e:00:53:01):", "its MAC is your access point's address.",
                "\u{1b}[33mwarning:\u{1b}[0m somebody forges replies, and", "only a verdict tells which are genuine",
                "  eth0 has no address of the group's", "  family, and isn't asked",
            ], "\(lines)")
    }

    @Test func `news about a router say what was and what is`() {
        let before = Self.router(1, "Attic", Self.gradings[0])
        var now = before
        now.discovered.place = .init(.v4(192, 168, 100, 9), interface: 2)
        #expect(ChangeText.clauses(.address, before, now) == ["is now at 192.168.100.9 on wlan0, was at 192.168.100.1 on wlan0"])
        now = before
        now.discovered.alternates = [.init(.v4(10, 0, 0, 1), interface: 2)]
        #expect(ChangeText.clauses(.alternate, before, now) == ["answers at 10.0.0.1 too"])
        #expect(ChangeText.clauses(.alternate, now, before) == ["answers at 10.0.0.1 no more"])
        now = before
        now.discovered.router.name = "Cellar"
        #expect(
            ChangeText.clauses([.description, .rebooted], before, now) == [
                "has started anew", "says of itself: name Cellar, was Attic",
            ])
        now = before
        now.discovered.isConflicted = true
        #expect(ChangeText.clauses(.conflict, before, now) == ["another device shows its MAC too"])
    }
}
