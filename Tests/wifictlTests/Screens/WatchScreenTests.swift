import SocketCore
import Testing
import WifiDiscovery

@testable import wifictl

/// The screen without a terminal: a model and a size become lines, lines become what a terminal is told.
struct WatchScreenTests {
    private let start = Instant.zero + .seconds(100)

    private func router(_ number: Int, _ title: String, rank: Int = 5, grade: String = "none") -> WatchRouter {
        WatchRouter(
            id: "02:00:5e:00:53:0\(number)", title: title, address: "192.168.1.\(number)", device: "Example AX-\(number)", grade: grade,
            gradePaint: rank < 2 ? .green : nil, rank: rank, facts: [.init("MAC", "02:00:5e:00:53:0\(number)")])
    }

    private func model(_ inputs: [WatchInput]) -> WatchModel {
        var model = WatchModel(started: start, place: "lo")
        for input in inputs { _ = model.take(input, now: start + .seconds(5)) }
        model.arrange()
        return model
    }

    private var sample: WatchModel {
        model([
            .router(router(1, "Attic"), change: nil), .router(router(2, "Cellar", rank: 0, grade: "exact"), change: nil),
            .selection(id: "02:00:5e:00:53:02", sentence: "Connected to Cellar."),
            .roundTrip(id: "02:00:5e:00:53:01", .milliseconds(2)), .roundTrip(id: "02:00:5e:00:53:01", nil),
            .roundTrip(id: "02:00:5e:00:53:01", .milliseconds(8)),
            .verdict(id: "02:00:5e:00:53:02", WatchVerdict(word: "company", paint: .green, detail: "proven")),
            .session(WatchSession(router: "02:00:5e:00:53:02", state: "open", paint: .green, remark: "open")),
            .changed([("wifi.ssid", "Home"), ("led", "true")]),
        ])
    }

    private func lines(_ model: WatchModel, _ columns: Int, _ height: Int, painted: Bool = false) -> [String] {
        WatchScreen(columns: columns, height: height, isPainted: painted).lines(model, now: start + .seconds(67))
    }

    private func uncoloured(_ line: String) -> String {
        line.split(separator: "\u{1b}", omittingEmptySubsequences: false).enumerated()
            .map { $0 == 0 ? $1 : $1.drop { $0 != "m" }.dropFirst() }.joined()
    }

    @Test func `a wide screen holds everything`() {
        #expect(
            lines(sample, 110, 20) == [
                "wifictl watch  2 routers on lo                                                                            1:07",
                "Connected to Cellar.",
                "",
                "    NAME    MAC                ADDRESS      GRADE  VERDICT     RTT  LAST PROBES  SESSION  DEVICE",
                "›*  Cellar  02:00:5e:00:53:02  192.168.1.2  exact  company                       open     Example AX-2",
                "    Attic   02:00:5e:00:53:01  192.168.1.1  none   -        8.0 ms  ▂·█                   Example AX-1",
                "",
                "Session with Cellar: open  0 delivered",
                "  wifi.ssid  Home",
                "  led        true",
                "",
                "0:05  Attic found at 192.168.1.1: none",
                "0:05  Cellar found at 192.168.1.2: exact",
                "0:05  Connected to Cellar.",
                "0:05  Cellar: company: proven",
                "0:05  session with Cellar: open",
                "", "", "",
                "↑↓ choose  s switch  v verify  d details  ? help  q quit",
            ])
    }

    @Test func `where Wi-Fi is heard, each router's signal is shown with its last ones, and the link's own above`() {
        let found = (1...3).map { number in
            let mac = MACAddress(2, 0, 0x5E, 0, 0x53, UInt8(number))
            let radio = RouterDescription.Radio(bssid: MACAddress(2, 0, 0x5E, 0, 0x53, UInt8(0x10 + number)), ssid: "Home", band: "5")
            return FoundRouter(
                discovered: DiscoveredRouter(
                    router: RouterDescription(mac: mac, name: "R\(number)", radios: [radio]), place: .init(.loopback, interface: 1)),
                grading: Grading(.none, .unrelated, distance: nil), evidence: Evidence(), interface: "wlan0")
        }
        // The kernel's table is older than the link's own reading.
        let link = WirelessAssociation(bssids: [MACAddress(2, 0, 0x5E, 0, 0x53, 0x11)], signal: -48.4, source: .scan)
        let table = [MACAddress(2, 0, 0x5E, 0, 0x53, 0x11): -60.0, MACAddress(2, 0, 0x5E, 0, 0x53, 0x12): -83]
        let signals = WatchSignals(networks: { table }, links: { [link] })
        let model = model(found.map { .router(WatchFacts.router($0), change: nil) } + signals.read(found) + signals.read(found))
        let lines = lines(model, 130, 12)
        #expect(lines[1].hasSuffix("-48 dBm"))
        #expect(lines[3].contains("SIGNAL  LAST SIGNALS"))
        #expect(lines[4].contains("-48 dBm  ▇▇") && lines[5].contains("-83 dBm  ▂▂") && !lines[6].contains("dBm"))
        #expect(!self.lines(sample, 130, 12)[3].contains("SIGNAL"))
    }

    @Test func `a sentence above that doesn't fit ends in an ellipsis, and details tell the best round trip`() {
        var model = model([
            .router(router(1, "Attic"), change: nil), .selection(id: nil, sentence: String(repeating: "word ", count: 30)),
            .roundTrip(id: "02:00:5e:00:53:01", .milliseconds(8)), .roundTrip(id: "02:00:5e:00:53:01", .milliseconds(2)),
        ])
        let plain = lines(model, 60, 12)
        #expect(plain[1].hasSuffix("…"))
        _ = model.take(.key(.details), now: start)
        #expect(lines(model, 60, 14).contains { $0.hasSuffix("round trip  2.0 ms at best") })
    }

    @Test func `news goes on below, so that the reason at its end is read, and none begins in its middle`() {
        let reason = "no switch to Cellar: no session with 02:00:5e:00:53:01 at 192.168.1.2: the peer wants a certificate of ours"
        let news = model([.router(router(1, "Attic"), change: nil), .remark("first", nil), .remark(reason, nil)])
        let plain = lines(news, 60, 14)
        #expect(plain.contains("0:05  no switch to Cellar: no session with 02:00:5e:00:53:01"), "\(plain)")
        #expect(plain.contains("      at 192.168.1.2: the peer wants a certificate of ours") && plain.contains("0:05  first"))
        let low = lines(news, 60, 9)
        #expect(low.contains { $0.hasSuffix("a certificate of ours") } && !low.contains("0:05  first"), "\(low)")
    }

    @Test func `Esc closes the help, then the details, then the watch; q ends it from anywhere`() {
        var model = sample
        _ = model.take(.key(.details), now: start)
        _ = model.take(.key(.help), now: start)
        #expect(model.take(.key(.back), now: start) == nil && !model.showsHelp && model.showsDetails)
        #expect(model.take(.key(.back), now: start) == nil && !model.showsDetails)
        #expect(model.take(.key(.back), now: start) == .quit)
        _ = model.take(.key(.help), now: start)
        #expect(model.take(.key(.quit), now: start) == .quit)
    }

    @Test(arguments: [(1, 1), (3, 2), (20, 4), (40, 8), (60, 12), (80, 24), (200, 60)])
    func `whatever the size, the lines are as many as it has and none is wider`(columns: Int, height: Int) {
        for keys in [[], [WatchKey.details], [.help], [.details, .down]] {
            var model = sample
            for key in keys { _ = model.take(.key(key), now: start) }
            for painted in [false, true] {
                let lines = lines(model, columns, height, painted: painted)
                #expect(lines.count == height)
                let plain = lines.map(uncoloured)
                #expect(plain.allSatisfy { DisplayWidth.of($0) <= columns }, "\(plain)")
            }
        }
    }

    @Test func `a narrow screen gives up what matters least and keeps name and grade`() {
        let narrow = lines(sample, 34, 12)
        #expect(narrow[3].contains("NAME") && narrow[3].contains("GRADE") && !narrow[3].contains("DEVICE") && !narrow[3].contains("PROBES"))
    }

    @Test func `a thousand routers are scrolled so that the cursor is seen`() {
        var model = model(
            (0..<1_000).map { number in
                var router = router(1, "R \(number)")
                router.id = "id \(number)"
                return .router(router, change: nil)
            })
        _ = model.take(.key(.last), now: start)
        let shown = lines(model, 80, 24)
        #expect(shown.contains { $0.hasPrefix("›") && $0.contains("R 999") })
        #expect(!shown.contains { $0.contains("R 5 ") })
        _ = model.take(.key(.first), now: start)
        #expect(lines(model, 80, 24)[4].hasPrefix("›") && lines(model, 80, 24)[4].contains("R 0"))
    }

    @Test func `what a router calls itself can't draw on the screen`() {
        let lines = lines(
            model([.router(router(1, "\u{1b}[2JA\nB\u{202e}"), change: "\u{1b}[31m"), .remark("x\u{07}\u{1b}]0;t", nil)]), 100, 20)
        #expect(lines.count == 20 && lines.allSatisfy { !$0.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E } })
    }

    @Test func `keys choose, and what they want is said`() {
        var model = sample
        let press = { (key: WatchKey, model: inout WatchModel) in model.take(.key(key), now: .zero) }
        #expect(press(.down, &model) == nil && model.cursor == "02:00:5e:00:53:01")
        #expect(press(.down, &model) == nil && model.cursor == "02:00:5e:00:53:01")
        #expect(press(.move, &model) == .move(id: "02:00:5e:00:53:01"))
        #expect(press(.verify, &model) == .verify(ids: ["02:00:5e:00:53:01"]))
        #expect(press(.verifyAll, &model) == .verify(ids: ["02:00:5e:00:53:02", "02:00:5e:00:53:01"]))
        _ = model.take(.lost(id: "02:00:5e:00:53:01", why: "bye"), now: start)
        #expect(press(.move, &model) == nil, "a router that is gone can't be switched to")
        #expect(press(.quit, &model) == .quit && press(.suspend, &model) == .suspend)
        #expect(WatchModel(started: .zero, place: "").selected == nil)
    }

    @Test func `keys are read from what terminals send`() {
        #expect(WatchKey.keys(Array("\u{1b}[A\u{1b}OBjq".utf8)) == [.up, .down, .down, .quit])
        #expect(WatchKey.keys([0x1B]) == [.back])
        #expect(WatchKey.keys(Array("\u{1b}[1;5A\u{1b}[H\u{1b}[3~x\u{1b}[".utf8)) == [.up, .first])
        #expect(WatchKey.keys([0x1A, 0x0C, 0x0D, 0xC3, 0xA4]) == [.suspend, .repaint, .details])
    }

    @Test func `only lines that changed are written, in one piece and all at once`() {
        var painter = ScreenPainter()
        let text = { (frame: [UInt8]?) in frame.map { String(decoding: $0, as: UTF8.self).replacing("\u{1b}", with: "^") } }
        #expect(text(painter.frame(["a", "bcd"], columns: 3)) == "^[?2026h^[1;1Ha^[0m^[K^[2;1Hbcd^[0m^[?2026l")
        #expect(painter.frame(["a", "bcd"], columns: 3) == nil)
        #expect(text(painter.frame(["a", "x"], columns: 3)) == "^[?2026h^[2;1Hx^[0m^[K^[?2026l")
        #expect(text(painter.frame(["a", "x"], columns: 4))?.contains("^[1;1Ha") == true, "another width draws all anew")
        painter.forget()
        #expect(text(painter.frame(["a", "x"], columns: 4))?.contains("^[1;1Ha") == true)
    }

    @Test func `round trips are a line of blocks, a gap for each probe without answer`() {
        var history = RoundTripHistory()
        #expect(history.sparkline == "" && history.latest == nil)
        for sample in [Duration.milliseconds(1), nil, .milliseconds(4), .milliseconds(8)] { history.add(sample) }
        #expect(history.sparkline == "▁·▄█" && history.latest == .milliseconds(8))
        for _ in 0..<40 { history.add(.zero) }
        #expect(history.sparkline == String(repeating: "▁", count: RoundTripHistory.length))
    }

    @Test func `news and properties are bounded whatever comes`() {
        let model = model(
            (0..<1_000).map { .remark("\($0)", nil) } + [.changed((0..<1_000).map { ("p\($0)", "1") })])
        #expect(model.news.count == WatchModel.mostNews && model.news.last?.text == "999")
        #expect(model.properties.count == WatchModel.mostProperties)
    }

    @Test func `lines are cut at the edge with their colours ended`() {
        #expect(ScreenText.clip("\u{1b}[32mabc\u{1b}[0mdef", to: 5) == "\u{1b}[32mabc\u{1b}[0md…")
        #expect(ScreenText.clip("\u{1b}[32mabc\u{1b}[0m", to: 2) == "\u{1b}[32ma…\u{1b}[0m")
        #expect(ScreenText.clip("客厅", to: 3) == "客…")
        #expect(ScreenText.clip("客厅", to: 4) == "客厅" && ScreenText.clip("ab", to: 0).isEmpty)
        for columns in 8...60 { #expect(lines(sample, columns, 20).last?.hasSuffix("q quit") == true, "\(columns) columns") }
        #expect(ScreenText.clock(.seconds(7)) == "0:07" && ScreenText.clock(.seconds(3_723)) == "1:02:03")
    }
}
