import Foundation
import Glibc
import TestSupport
import Testing

/// `wifictl watch` on a terminal, seen through tmux.
@Suite(.enabled(if: TerminalPane.isPossible, TerminalPane.absence), .timeLimit(.minutes(10)))
struct WatchTerminalTests {
    private func routers(_ port: Int, _ count: Int = 2) async throws -> ChildProcess {
        try await Loopback.router(
            port: port, ["--mac", "02:00:5e:00:53:01", "--bssid", "02:00:5e:00:53:11", "--name", "Attic", "--tcp", "0"], count: count
        ).child
    }

    private func watch(_ port: Int, _ words: String = "") -> String {
        "\(BuiltTool.path) watch \(words) --interface lo --port \(port) --bssid 02:00:5e:00:53:12"
    }

    /// The terminal as a shell wants it: lines and echo, the main screen, a visible cursor.
    private func isRestored(_ pane: TerminalPane) async throws -> Bool {
        let settings = try await pane.answer(to: "stty -a")
        let words = settings.split { $0 == " " || $0 == "\n" || $0 == ";" }
        return words.contains("icanon") && words.contains("echo") && !words.contains("-echo")
    }

    @Test func `routers are shown, chosen, moved to, verified and explained by keys, and q leaves the terminal as it was`() async throws {
        let port = try Loopback.freePort()
        let child = try await routers(port)
        let pane = try await TerminalPane(columns: 120, lines: 30)
        try await pane.type("echo before; \(watch(port, "02:00:5e:00:53:01")); echo status=$?")
        try await pane.shows("2 routers on lo")
        try await pane.shows("Connected to Attic 2 (02:00:5e:00:53:02): your access point is its 2.4 GHz radio")
        try await pane.shows("Session with Attic 1: open")
        try await pane.shows("wifi.ssid  Home")
        #expect(try await pane.screen().contains { $0.hasPrefix("›*  Attic 2") })
        try await pane.press("Down")
        try await pane.shows("›   Attic 1")
        try await pane.press("v")
        try await pane.shows("unproven (plaintext)")
        // Asked again, it says so, and so does a switch to where one is.
        try await pane.press("v")
        try await pane.shows("still unproven (plaintext)")
        try await pane.press("s")
        try await pane.shows("Attic 1 has the session already")
        try await pane.press("d")
        try await pane.shows("sessions    TCP")
        try await pane.press("d", "Up", "s")
        try await pane.shows("Session with Attic 2: open")
        try await pane.press("?")
        try await pane.shows("everything that is known of it")
        try await pane.press("q")
        try await pane.shows("status=0")
        try await pane.shows("before")
        #expect(try await isRestored(pane))
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test func `another size is drawn at once, and what doesn't fit is left out and not wrapped`() async throws {
        let port = try Loopback.freePort()
        let child = try await routers(port, 3)
        let pane = try await TerminalPane(columns: 120, lines: 30)
        try await pane.type(watch(port))
        try await pane.shows("LAST PROBES")
        try await pane.resize(columns: 44, lines: 10)
        try await pane.shows("LAST PROBES", gone: true)
        try await pane.shows("Attic 3")
        let narrow = try await pane.screen()
        #expect(narrow.filter { $0.contains("wifictl watch") }.count == 1 && narrow.first?.hasPrefix("wifictl watch  3 routers") == true)
        try await pane.resize(columns: 140, lines: 40)
        try await pane.shows("DEVICE")
        try await pane.shows("Example Simulated")
        #expect(try await pane.screen().prefix(40).last { !$0.isEmpty }?.hasPrefix("↑↓ choose") == true)
        try await pane.press("q")
        child.signal(SIGINT)
        _ = try await child.result()
    }

    @Test(arguments: [(SIGINT, 130), (SIGTERM, 130), (SIGSEGV, 139), (SIGILL, 132), (SIGHUP, 130)])
    func `however it ends, the terminal is as it was`(signal: Int32, status: Int) async throws {
        let scratch = try TemporaryDirectory()
        let pane = try await TerminalPane(columns: 100, lines: 24)
        let command = watch(try Loopback.freePort())
        try await pane.type("echo before; sh -c 'echo $$ > \(scratch.file("pid")); exec \(command)'; echo status=$?")
        try await pane.shows("looking for routers...")
        let pid = try #require(Int32(try String(contentsOfFile: scratch.file("pid"), encoding: .utf8).dropLast()))
        kill(pid, signal)
        try await pane.shows("status=\(status)")
        try await pane.shows("before")
        #expect(try await isRestored(pane))
    }

    @Test func `put away by Ctrl-Z it leaves the terminal to the shell, and comes back whole`() async throws {
        let pane = try await TerminalPane(columns: 100, lines: 24)
        try await pane.type("echo before; \(watch(try Loopback.freePort()))")
        try await pane.shows("looking for routers...")
        try await pane.press("C-z")
        try await pane.shows("before")
        #expect(try await isRestored(pane))
        try await pane.type("fg")
        try await pane.shows("looking for routers...")
        try await pane.press("q")
        try await pane.shows("looking for routers...", gone: true)
        #expect(try await isRestored(pane))
    }

    @Test func `a terminal that can only print gets lines`() async throws {
        let port = try Loopback.freePort()
        let child = try await routers(port, 1)
        let pane = try await TerminalPane(columns: 100, lines: 24, environment: ["TERM": "dumb"])
        try await pane.type(watch(port, "02:00:5e:00:53:01"))
        try await pane.shows("+ 02:00:5e:00:53:01  Attic")
        try await pane.shows("session with 02:00:5e:00:53:01: open")
        try await pane.shows("= wifi.ssid = Home")
        try await pane.press("C-c")
        #expect(try await isRestored(pane))
        child.signal(SIGINT)
        _ = try await child.result()
    }
}
