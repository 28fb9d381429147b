import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// How commands behave on a terminal: progress, width, colours, and bytes that a terminal would obey.
@Suite(.enabled(if: TerminalPane.isPossible, TerminalPane.absence), .timeLimit(.minutes(10)))
struct TerminalMannersTests {
    @Test func `tables fit the terminal, sentences go on below, and COLUMNS is heeded`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let pane = try await TerminalPane(columns: 80, lines: 30)
        let words = "--interface lo --port \(port) --for 400ms"
        try await pane.type("\(BuiltTool.path) verify \(words); echo status=$?")
        try await pane.shows("status=1")
        let lines = try await pane.screen()
        let row = try #require(lines.firstIndex { $0.hasPrefix("Attic  02:00:5e:00:53:01  127.0.0.1:") })
        #expect(lines[row + 1].hasPrefix("  it offers no TLS") && lines.allSatisfy { $0.count <= 80 }, "\(lines)")
        try await pane.type("clear; COLUMNS=60 \(BuiltTool.path) discover --bssid none \(words); echo status=$?")
        try await pane.shows("status=0")
        #expect(try await pane.screen().first { $0.contains("NAME") }.map { $0.count <= 60 } == true)
        // A slip in a known name is answered with the name.
        try await pane.type(
            "clear; \(BuiltTool.path) get Atitc wifi.ssid \(words.replacing("--for 400ms", with: "--timeout 20s")); echo status=$?")
        try await pane.shows("did you mean Attic?")
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test func `long work shows its progress on a terminal, and Ctrl-C ends it in order`() async throws {
        let pane = try await TerminalPane(columns: 100, lines: 30)
        let scratch = try TemporaryDirectory()
        for (words, progress) in [
            ("fuzz --for 10m --artifacts \(scratch.path)", "inputs"),
            ("discover --interface lo --port \(try Loopback.freePort()) --for 5m", "asking on the network..."),
            ("verify --interface lo --port \(try Loopback.freePort()) --for 5m", "asking on the network..."),
        ] {
            try await pane.type("clear; \(BuiltTool.path) \(words); echo status=$?")
            try await pane.shows(progress)
            try await pane.press("C-c")
            try await pane.shows("status=130")
        }
    }

    @Test func `Ctrl-C shows what was measured so far, and leaves the terminal as it was`() async throws {
        let pane = try await TerminalPane(columns: 110, lines: 30)
        let before = try await pane.answer(to: "stty -g")
        // However long a figure is to take.
        try await pane.type("clear; \(BuiltTool.path) bench encode decode --for 10m; echo status=$?")
        try await pane.shows("encode: 0 figures")
        try await pane.press("C-c")
        try await pane.shows("interrupted: 0 figures were measured")
        try await pane.shows("status=130")
        #expect(try await pane.answer(to: "stty -g") == before)
        let figures = try await BuiltTool.run(["bench", "encode", "--for", "1ms", "--json"]).lines.count
        try await pane.type("clear; \(BuiltTool.path) bench encode session --for 1ms; echo status=$?")
        try await pane.shows("session: \(figures) figures")
        try await pane.press("C-c")
        try await pane.shows("were measured")
        try await pane.shows("ns/frame")
        try await pane.shows("status=130")
    }

    @Test func `a read that is interrupted says how far it came, and leaves the terminal as it was`() async throws {
        let port = try Loopback.freePort()
        // So slow at reading requests that a stream of five pieces takes seconds.
        let (child, _) = try await Loopback.router(
            port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0", "--slow-read", "20"])
        let pane = try await TerminalPane(columns: 150, lines: 30)
        let before = try await pane.answer(to: "stty -g")
        let place = try TemporaryDirectory()
        let words = "\(BuiltTool.path) read Attic log --interface lo --port \(port) --output \(place.file("log"))"
        try await pane.type("clear; \(words); echo status=$?")
        try await pane.shows("of 5120 bytes")
        try await pane.press("C-c")
        try await pane.shows("log.part; the same command goes on there")
        try await pane.shows("status=130")
        #expect(try await pane.answer(to: "stty -g") == before)
        // That it does is KilledReadTests' matter: this router would take minutes for it.
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test func `a terminal isn't given bytes that it would obey`() async throws {
        let port = try Loopback.freePort()
        let (child, _) = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Attic", "--tcp", "0"])
        let pane = try await TerminalPane(columns: 100, lines: 30)
        let words = "\(BuiltTool.path) read Attic log --interface lo --port \(port)"
        try await pane.type("\(words); echo status=$?")
        try await pane.shows("a terminal would obey them")
        try await pane.shows("status=2")
        try await pane.type("clear; \(words) | wc -c")
        try await pane.shows("5120")
        child.signal(SIGINT)
        _ = try await child.result()
    }
}
