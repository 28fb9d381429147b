import Foundation
import TestSupport
import Testing

@testable import wifictl

/// The page about a LAN: from values alone, and by the tool.
@Suite(.timeLimit(.minutes(10)))
struct ReportTests {
    private func router(_ number: Int, _ name: String, tone: LANReport.Tone = .good, parent: String? = nil) -> LANReport.Router {
        LANReport.Router(
            mac: "02:00:5e:00:53:\(number)", name: name, address: "192.168.1.\(number)", interface: "lo", device: "Example AX-2",
            firmware: "1.4.2", grade: "radio: same BSSID", isOnLink: true, isGuess: false, evidence: "gateway", verdict: "company",
            tone: tone, reason: "its certificate names it", radios: ["02:00:5e:00:53:11 \"Home\" 5 GHz"], parent: parent,
            foundAt: Double(number) * 1.5, trips: [1, nil, 2.5])
    }

    private func report(_ routers: [LANReport.Router]) -> LANReport {
        LANReport(
            made: "2026-11-30 12:00:00 UTC", tool: "wifictl", interfaces: ["lo"], accessPoint: ["02:00:5e:00:53:11"],
            link: "\"Home\", 5 GHz, -52 dBm", chosen: routers.first?.mac, sentence: "Connected to Attic.", routers: routers,
            duration: 3_000, counts: [.init(name: "probes sent", value: "4")])
    }

    private func html(_ routers: [LANReport.Router]) -> String { ReportPage(report: report(routers)).html() }

    private static let hostile = [
        "<script>alert(1)</script>", "\"><img src=http://evil.example/x onerror=alert(1)>", "</title></svg></style>", "' onload='x",
        "&lt;b&gt;", "\u{202e}evil\u{0}\u{1b}[31m", "]]><!--", "${x} {{y}}",
    ]

    @Test(arguments: hostile)
    func `whatever a router calls itself stays text`(name: String) {
        var hostile = router(1, name)
        (hostile.device, hostile.verdict, hostile.reason, hostile.evidence) = (name, name, name, name)
        (hostile.mac, hostile.address, hostile.grade, hostile.firmware, hostile.radios) = (name, name, name, name, [name])
        var report = report([hostile, router(2, "child", parent: name)])
        (report.sentence, report.link, report.interfaces, report.accessPoint) = (name, name, [name], [name])
        report.counts = [.init(name: name, value: name)]
        let page = ReportPage(report: report).html()
        let harmless = html([router(1, "x"), router(2, "child", parent: "02:00:5e:00:53:1")])
        let tags = { (text: String) in text.split(separator: "<").dropFirst().map { $0.prefix { $0.isLetter || $0 == "/" || $0 == "!" } } }
        #expect(tags(page) == tags(harmless), "the page has other elements than with a harmless name")
        #expect(!page.contains("<script") && !page.contains("<img") && !page.contains("<!--"))
        #expect(!page.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" || $0.value == 0x202E })
    }

    @Test(arguments: [0, 1, 2, 40, 41, 1_000])
    func `the page is well-formed, accessible and whole in itself for any number of routers`(count: Int) async throws {
        let page = html((0..<count).map { router($0, "Router \($0)", parent: $0 == 1 ? "02:00:5e:00:53:0" : nil) })
        let result = try await runCommand(["python3", "-c", ReportTests.checker], input: Array(page.utf8))
        #expect(result.status == 0 && result.errorText.isEmpty, "\(result.text)\(result.errorText)")
        // What could be fetched: nothing, and where one could go: to the page itself.
        #expect(!page.contains("http://") && !page.contains("https://") && !page.contains("src=") && !page.contains("url("))
        #expect(page.ranges(of: "href=").count == 1 && page.contains("href=\"#main\""))
        #expect(page.contains("default-src 'none'") && page.contains("prefers-color-scheme:dark") && page.contains("@media print"))
    }

    @Test func `a child that gave no answer is counted apart, and the narrow map holds all boxes`() throws {
        var silent = router(3, "", parent: "02:00:5e:00:53:1")
        (silent.address, silent.interface, silent.trips, silent.foundAt) = ("", "", [], nil)
        let page = html([router(1, "Attic"), router(2, "Cellar"), silent])
        #expect(page.contains("<caption>2 routers and 1 child that gave no answer;"))
        #expect(page.contains("a network with 2 routers and 1 child that gave no answer."))
        let narrow = try #require(page.firstRange(of: "<div class=\"narrow\">").map { page[$0.upperBound...].prefix { $0 != "\u{0}" } })
        let map = narrow[..<(try #require(narrow.firstRange(of: "</svg>")).lowerBound)]
        #expect(map.ranges(of: "<rect").count == 5 && map.contains("viewBox=\"0 0 310 "))
        #expect(page.contains("max-width:48rem") && page.contains("scroll sideways"))
    }

    @Test func `a page about nobody has no plots, says what to try, and ends with what it is about`() {
        let empty = html([])
        #expect(!empty.contains("Round trips") && !empty.contains("timeline") && empty.contains("wifictl doctor"))
        #expect(!empty.contains("<footer") && empty.contains("; made by wifictl in 3 s"))
    }

    @Test(arguments: [["report"], ["bench", "decode", "--for", "1h", "--plot"]])
    func `a place that can't be written is told before the work`(words: [String]) async throws {
        let scratch = try TemporaryDirectory()
        let result = try await BuiltTool.run(words + [scratch.file("none/x.html")], within: .seconds(60))
        #expect(result.status == 2 && result.errorText.contains("none/x.html: "), "\(result.errorText)")
        #expect(!result.errorText.contains("no router answered"))
    }

    /// Elements are closed in order, headings go down one level at a time, drawings have a title and a text, table heads a scope.
    private static let checker = """
        import sys
        from html.parser import HTMLParser
        void = {'meta', 'br'}
        class Check(HTMLParser):
            stack, level, ids, refs, found = [], 0, set(), set(), []
            def handle_starttag(self, tag, attrs):
                a = dict(attrs)
                if tag in ('h1', 'h2', 'h3'):
                    n = int(tag[1]); assert n <= self.level + 1, 'heading ' + tag; self.level = n
                if tag == 'html': assert a.get('lang') == 'en'
                if tag == 'th': assert a.get('scope') in ('row', 'col'), 'th without scope'
                if 'id' in a: assert a['id'] not in self.ids, 'id twice: ' + a['id']; self.ids.add(a['id'])
                if tag == 'svg': assert a.get('role') == 'img'
                for name in ('aria-labelledby',): self.refs.update(a.get(name, '').split())
                self.found.append(tag)
                if tag not in void: self.stack.append(tag)
            def handle_startendtag(self, tag, attrs): pass
            def handle_endtag(self, tag): assert self.stack and self.stack.pop() == tag, 'misnested ' + tag
        c = Check(); c.feed(sys.stdin.read()); c.close()
        assert not c.stack, c.stack
        assert c.refs <= c.ids, c.refs - c.ids
        for tag in ('header', 'main', 'h1', 'title', 'svg', 'desc'): assert tag in c.found, 'no ' + tag
        assert c.found.count('h1') == 1 and c.found.count('main') == 1
        """

    @Test func `every text is legible on its background, by day and in the dark`() throws {
        for colours in [ReportStyle.light, ReportStyle.dark] {
            for name in ["ink", "muted", "good", "fair", "open", "bad"] {
                for ground in ["paper", "panel"] {
                    let ratio = contrast(try #require(colours[name]), try #require(colours[ground]))
                    #expect(ratio >= 4.5, "\(name) on \(ground): \(ratio)")
                }
            }
        }
    }

    /// WCAG 2's contrast ratio of two colours written #rrggbb.
    private func contrast(_ left: String, _ right: String) -> Double {
        let luminance = { (colour: String) -> Double in
            let number = Int(colour.dropFirst(), radix: 16) ?? 0
            let parts = [number >> 16, number >> 8 & 255, number & 255].map { value -> Double in
                let share = Double(value) / 255
                return share <= 0.03928 ? share / 12.92 : pow((share + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let both = [luminance(left), luminance(right)].sorted()
        return (both[1] + 0.05) / (both[0] + 0.05)
    }

    @Test func `the medians and what got lost are told in words as well`() {
        #expect(ReportPlots.summary(router(1, "x")) == "1.75 ms, 1 of 3 lost")
        var silent = router(1, "x")
        silent.trips = [nil, nil]
        #expect(ReportPlots.summary(silent) == "no answer")
        #expect(html([router(1, "Attic")]).contains("<desc id=\"trips-text\">Attic: 1.75 ms, 1 of 3 lost.</desc>"))
    }

    @Test(arguments: [(0.03, 0.005), (1, 0.2), (7, 1), (8, 1), (95, 20), (640, 100), (1_000, 200)])
    func `axes begin at 0 and go on in round steps`(most: Double, step: Double) {
        let scale = AxisScale(covering: most)
        #expect(abs(scale.step - step) < step / 1_000 && scale.end >= most && scale.ticks.count <= 11 && scale.ticks.first == 0)
    }

    @Test func `the tool writes a page about the routers that it finds, a hostile one among them`() async throws {
        let port = try Loopback.freePort()
        let name = "<script>alert(1)</script>"
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", name, "--tcp", "0"])
        let scratch = try TemporaryDirectory()
        let words = ["report", scratch.file("lan.html"), "--interface", "lo", "--port", "\(port)", "--for", "500ms", "--probes", "3"]
        let result = try await BuiltTool.run(words + ["--bssid", "02:00:5e:00:53:01"])
        #expect(result.status == 0 && result.errorText.hasPrefix("1 router in"), "\(result.errorText)")
        let page = try String(contentsOfFile: scratch.file("lan.html"), encoding: .utf8)
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && !page.contains("<script"))
        #expect(page.contains("its MAC is your access point&#39;s address") && page.contains("unproven"))
        #expect(page.ranges(of: "<circle class=\"trip\"").count == 3)
        child.signal(SIGINT)
        _ = try await child.result()
        let empty = try await BuiltTool.run(words + ["--json"])
        #expect(empty.status == 1 && empty.text.contains(#""routers":0"#))
        #expect(try String(contentsOfFile: scratch.file("lan.html"), encoding: .utf8).contains("No router answered."))
    }

    private static let browser = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: browser != nil, "no Chromium here (Debian: chromium), so the page isn't opened in a browser"))
    func `a browser shows it, without complaint, and prints it`() async throws {
        let scratch = try TemporaryDirectory()
        let routers = (1...12).map { router($0, "Router \($0)", tone: LANReport.Tone.allCases[$0 % 4]) }
        try Data(html(routers).utf8).write(to: URL(fileURLWithPath: scratch.file("lan.html")))
        let common = [
            try #require(ReportTests.browser), "--headless", "--no-sandbox", "--disable-gpu", "--user-data-dir=\(scratch.file("profile"))",
            "--enable-logging=stderr", "--window-size=1280,1600",
        ]
        let url = "file://\(scratch.file("lan.html"))"
        let shot = try await runCommand(common + ["--screenshot=\(scratch.file("lan.png"))", url], within: .seconds(100))
        #expect(!shot.errorText.contains("CONSOLE"), "\(shot.errorText)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("lan.png"))).count > 20_000)
        _ = try await runCommand(common + ["--print-to-pdf=\(scratch.file("lan.pdf"))", url], within: .seconds(100))
        #expect(try Data(contentsOf: URL(fileURLWithPath: scratch.file("lan.pdf"))).prefix(5) == Data("%PDF-".utf8))
    }
}
