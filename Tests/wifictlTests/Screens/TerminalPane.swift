import Foundation
import TestSupport
import Testing

/// A shell in a terminal of its own, by tmux: keys go in, what its screen shows comes out. Gone with the value.
final class TerminalPane: Sendable {
    static let isPossible = FileManager.default.isExecutableFile(atPath: "/usr/bin/tmux")
    static let absence: Comment = "no tmux here (Debian: tmux), so nothing can be seen on a terminal"

    private let socket: String
    private let home: TemporaryDirectory

    /// - Parameter environment: added to the shell's.
    init(columns: Int, lines: Int, environment: [String: String] = [:]) async throws {
        home = try TemporaryDirectory()
        // A name of its own: the tests run side by side, and beside tmux of whoever runs them.
        socket = "wifictl-\(UUID().uuidString)"
        let variables = ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null", "LC_ALL": "C.UTF-8", "PS1": "ready$ "]
        let words = variables.merging(environment) { $1 }.map { "\($0.key)=\($0.value)" }.sorted()
        try await tmux(
            ["-f", "/dev/null", "new-session", "-d", "-x", "\(columns)", "-y", "\(lines)", "-s", "pane", "env"] + words
                + ["bash", "--norc", "--noprofile"])
        try await shows("ready$")
    }

    deinit {
        let kill = Process()
        kill.executableURL = URL(fileURLWithPath: "/usr/bin/tmux")
        kill.arguments = ["-L", socket, "kill-server"]
        kill.standardError = FileHandle.nullDevice
        // Without a server there is nothing to end.
        try? kill.run()
    }

    @discardableResult
    private func tmux(_ words: [String]) async throws -> CommandResult {
        try await runCommand(["tmux", "-L", socket] + words, mustSucceed: true)
    }

    /// Presses keys, by tmux's names.
    func press(_ keys: String...) async throws { try await tmux(["send-keys", "-t", "pane"] + keys) }

    /// Types a command line and Enter.
    func type(_ line: String) async throws {
        try await tmux(["send-keys", "-t", "pane", "-l", line])
        try await press("Enter")
    }

    func resize(columns: Int, lines: Int) async throws {
        try await tmux(["resize-window", "-t", "pane", "-x", "\(columns)", "-y", "\(lines)"])
    }

    /// The screen's lines as they are now, with colours where asked for.
    func screen(colours: Bool = false) async throws -> [String] {
        let result = try await tmux(["capture-pane", "-t", "pane", "-p"] + (colours ? ["-e"] : []))
        return result.text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    }

    /// Waits until the screen shows a text, or no longer does; fails with the screen when a minute is over.
    func shows(_ text: String, gone: Bool = false, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let test = gone ? "! grep -qF" : "grep -qF"
        let script = """
            for try in $(seq 600); do
                tmux -L "$1" capture-pane -t pane -p | { \(test) -e "$2"; } && exit 0
                sleep 0.1
            done
            exit 1
            """
        let result = try await runCommand(["bash", "-c", script, "bash", socket, text], within: .seconds(90))
        if result.status != 0 {
            let screen = try await screen().joined(separator: "\n")
            Issue.record("the screen \(gone ? "still shows" : "doesn't show") \(text):\n\(screen)", sourceLocation: sourceLocation)
        }
    }

    /// The shell's own answer to a question, once its prompt is back: proof that the terminal works as before.
    func answer(to command: String) async throws -> String {
        let name = "answer-\(UUID().uuidString)"
        let file = home.file(name)
        // Its own words each time: those of an earlier answer may still be on the screen.
        try await type("\(command) > \(file).new; mv \(file).new \(file); clear; echo as''ked \(name.suffix(12))")
        try await shows("asked \(name.suffix(12))")
        return try String(contentsOfFile: file, encoding: .utf8)
    }
}
