import Foundation
import TestSupport
import Testing

@testable import wifictl

/// The built tool, run as a script would.
struct BinaryTests {
    @Test func `the version is one line and ends with 0`() async throws {
        let result = try await BuiltTool.run(["--version"])
        #expect(result.text == "wifictl 0.1.0\n")
        #expect(result.errors.isEmpty)
        #expect(result.status == 0)
    }

    @Test func `current before there is one, and an interface that isn't there, say what to do`() async throws {
        for words in [["get", "current", "led"], ["send", "current"], ["read", "current", "log"]] {
            let result = try await BuiltTool.run(words + ["--interface", "lo", "--port", "\(try Loopback.freePort())"])
            #expect(result.status == 2 && result.errorText.hasPrefix("wifictl: no router is the current one yet ("), "\(result.errorText)")
        }
        for words in [["discover"], ["verify"], ["doctor"], ["watch"]] {
            let result = try await BuiltTool.run(words + ["--interface", "l0"])
            #expect(
                result.status == 2 && result.errorText.hasSuffix("there is no interface l0 (did you mean lo?)\n"), "\(result.errorText)")
        }
    }

    @Test func `help goes to standard output and lists every command`() async throws {
        let result = try await BuiltTool.run(["--help"])
        #expect(result.status == 0)
        for command in CommandRegistry.commands { #expect(result.text.contains("\n  \(command.name) ")) }
    }

    @Test(arguments: CommandRegistry.commands.map(\.name))
    func `every command has help with an example`(name: String) async throws {
        let result = try await BuiltTool.run(name.split(separator: " ").map(String.init) + ["--help"])
        #expect(result.status == 0)
        #expect(result.text.contains("Usage: wifictl \(name)") && result.text.contains("\nExample"))
    }

    @Test func `wrong usage ends with 64 and nothing on standard output`() async throws {
        let result = try await BuiltTool.run(["completoins"])
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.errorText == "wifictl: unknown command 'completoins' (did you mean completions?)\n")
    }

    @Test func `no colours and no progress where there is no terminal`() async throws {
        for words in [["--help"], ["completions", "bash"], ["completons"]] {
            let result = try await BuiltTool.run(words, environment: ["TERM": "xterm-256color"])
            #expect(!result.output.contains(0x1B) && !result.errors.contains(0x1B))
        }
    }

    @Test(
        "colours are for terminals that want them",
        arguments: [
            (["TERM": "xterm-256color", "NO_COLOR": ""], true), (["TERM": "xterm-256color", "NO_COLOR": "1"], false),
            (["TERM": "dumb", "NO_COLOR": ""], false),
        ])
    func colours(environment: [String: String], expected: Bool) async throws {
        // Python's pty module lends a terminal; the tool's standard error is that terminal then.
        let words = ["python3", "-c", "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)", BuiltTool.path, "completons"]
        let result = try await runCommand(words, environment: environment)
        #expect(result.status == 64)
        #expect(result.text.contains("unknown command 'completons'"))
        #expect(result.output.contains(0x1B) == expected)
    }

    @Test func `Ctrl-C ends a command that waits for input, in an orderly way`() async throws {
        let child = try ChildProcess([BuiltTool.path, "frames", "--json"])
        child.write([0, 0, 0, 7, 0, 1, 0, 0, 0, 0])
        // The first frame's line says that the command is under way and waits for more.
        _ = try await child.line("frame") { $0.hasPrefix("{\"type\":\"frame\"") }
        child.signal(SIGINT)
        let result = try await child.result()
        #expect(result.status == 130)
        #expect(result.errorText.isEmpty, "\(result.errorText)")
    }

    @Test func `a closed pipe ends quietly`() async throws {
        let script = "\(BuiltTool.path) completions bash | head -c 1 > /dev/null; echo \"${PIPESTATUS[0]}\""
        let result = try await runCommand(["bash", "-c", "exec 2>&1; \(script)"])
        #expect(result.text == "0\n")
        let gone = try await runCommand(["bash", "-c", "{ \(BuiltTool.path) completions bash; echo $? >&2; } | true"])
        #expect(gone.errorText == "0\n")
    }

    @Test func `a full disk is an error`() async throws {
        let result = try await runCommand(["sh", "-c", "exec \(BuiltTool.path) completions bash > /dev/full"])
        #expect(result.status == 2)
        #expect(result.errorText.hasPrefix("wifictl: cannot write standard output: no space left on device"))
    }
}

/// The manual page, where something here can read it.
struct ManualTests {
    @Test func `the manual names every command and option, and every line that begins with a dot is a request`() async throws {
        let result = try await BuiltTool.run(["manual"])
        #expect(result.status == 0)
        let requests: Set<Substring> = [".TH", ".SH", ".SS", ".TP", ".B", ".I", ".PP", ".RS", ".RE", ".nf", ".fi", ".nh"]
        for line in result.lines where line.hasPrefix(".") { #expect(requests.contains(line.prefix { $0 != " " }), "\(line)") }
        for command in CommandRegistry.commands {
            #expect(result.text.contains(".SS \"\(command.name.replacing("-", with: "\\-"))"))
            for option in command.options { #expect(result.text.contains("\\-\\-" + option.name.replacing("-", with: "\\-"))) }
        }
    }

    private static func isThere(_ tool: String) -> Bool { FileManager.default.isExecutableFile(atPath: "/usr/bin/\(tool)") }

    @Test(.enabled(if: isThere("mandoc"), "mandoc isn't here: apt-get install mandoc"))
    func `mandoc finds nothing to complain of`() async throws {
        let page = try await BuiltTool.run(["manual"]).output
        let result = try await runCommand(["mandoc", "-T", "lint"], input: page)
        #expect(result.status == 0 && result.output.isEmpty && result.errors.isEmpty, "\(result.text)\(result.errorText)")
    }

    @Test(.enabled(if: isThere("man"), "man isn't here: apt-get install man-db"))
    func `man shows it without a warning`() async throws {
        let place = try TemporaryDirectory()
        let page = place.file("wifictl.1")
        try Data(try await BuiltTool.run(["manual"]).output).write(to: URL(fileURLWithPath: page))
        let result = try await runCommand(["man", "--warnings", "-l", page], environment: ["MANWIDTH": "80", "LC_ALL": "C.UTF-8"])
        #expect(result.status == 0 && result.errors.isEmpty, "\(result.errorText)")
        #expect(result.text.contains("wifictl conform 192.168.1.1"))
        // No option is hyphenated, and paragraphs stay apart.
        for option in CommandRegistry.commands.flatMap(\.options) { #expect(result.text.contains("--\(option.name)"), "\(option.name)") }
        #expect(!result.text.split(separator: "\n").contains { $0.hasSuffix("\u{2010}") || $0.hasSuffix("-") && !$0.hasSuffix(" -") })
        #expect(result.text.contains("\nFILES\n") && result.text.contains("\n\n       With --dialect, routers of other makers"))
    }
}

struct CancellationTests {
    @Test func `the signal is raised once and tells everybody, latecomers too`() async {
        let signal = CancellationSignal()
        let (calls, caller) = AsyncStream.makeStream(of: String.self)
        signal.onRaise { caller.yield("early") }
        let forgotten = signal.onRaise { caller.yield("forgotten") }
        signal.forget(forgotten)
        async let waited: Void = signal.wait()
        #expect(throws: Never.self) { try signal.check() }
        #expect(signal.raise(.interrupt))
        #expect(!signal.raise(.closedPipe))
        #expect(signal.cause == .interrupt)
        #expect(throws: CancellationError.self) { try signal.check() }
        signal.onRaise { caller.yield("late") }
        await waited
        caller.finish()
        #expect(await calls.reduce(into: []) { $0.append($1) } == ["early", "late"])
    }

    @Test func `waiting ends with the task that waits`() async {
        let signal = CancellationSignal()
        let task = Task { await signal.wait() }
        task.cancel()
        await task.value
        #expect(!signal.isRaised)
    }
}

struct ContextTests {
    private func home(_ option: String?, _ variables: [String: String]) throws -> String { try Context.home(option, { variables[$0] }) }

    @Test func `the state directory follows option, own variable, XDG and home in this order`() throws {
        let all = ["WIFICTL_HOME": "/own", "XDG_STATE_HOME": "/state", "HOME": "/me"]
        #expect(try home("here", all) == "here")
        #expect(try home(nil, all) == "/own")
        #expect(try home(nil, all.merging(["WIFICTL_HOME": ""]) { $1 }) == "/state/wifictl")
        #expect(try home(nil, ["XDG_STATE_HOME": "relative", "HOME": "/me"]) == "/me/.local/state/wifictl")
        #expect(throws: ToolError.self) { try home(nil, [:]) }
    }
}

struct InputTests {
    private func file(_ content: [UInt8]) throws -> (TemporaryDirectory, String) {
        let directory = try TemporaryDirectory()
        try Data(content).write(to: URL(fileURLWithPath: directory.file("input")))
        return (directory, directory.file("input"))
    }

    private func lines(_ text: String, limit: Int = 100) throws -> [String] {
        let (directory, path) = try file(Array(text.utf8))
        defer { withExtendedLifetime(directory) {} }
        var reader = LineReader(try InputFile(path), limit: limit)
        var lines: [String] = []
        while let line = try reader.next() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test func `lines end with either line end and the last needs none`() throws {
        #expect(try lines("a\nbc\r\n\r\n\nd") == ["a", "bc", "", "", "d"])
        #expect(try lines("a\n") == ["a"])
        #expect(try lines("") == [])
        #expect(try lines("\r") == ["\r"])
    }

    @Test func `lines longer than a piece are whole and a line over the limit is an error`() throws {
        let long = String(repeating: "x", count: InputFile.pieceLength + 7)
        #expect(try lines("a\n\(long)\nb", limit: 1 << 20) == ["a", long, "b"])
        #expect(throws: ToolError.self) { try lines("a\n\(long)\nb", limit: 1_000) }
    }

    @Test func `a file that is too large or missing is an error that names it`() throws {
        let (directory, path) = try file([1, 2, 3, 4])
        defer { withExtendedLifetime(directory) {} }
        #expect(try InputFile(path).all(limit: 4) == [1, 2, 3, 4])
        #expect(throws: ToolError.self) { try InputFile(path).all(limit: 3) }
        do {
            _ = try InputFile(directory.file("none"))
            Issue.record("a missing file was opened")
        } catch {
            #expect(error.description.contains(directory.file("none") + ": no such file or directory"))
        }
    }

    @Test func `lines come to a task one by one and a raised signal ends the wait for the next`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("fifo")
        try await runCommand(["mkfifo", path], mustSucceed: true)
        // The writer stays, so that the reader waits after the second line instead of seeing the end.
        let writer = try ChildProcess(["sh", "-c", "exec 3> \(path); printf 'a\\nb\\n' >&3; read end"])
        let signal = CancellationSignal()
        let lines = InputLines(try InputFile(path, cancellation: signal), limit: 100)
        #expect(try await lines.next() == Array("a".utf8))
        #expect(try await lines.next() == Array("b".utf8))
        let third = Task { try await lines.next() }
        signal.raise(.interrupt)
        await #expect(throws: CancellationError.self) { try await third.value }
        writer.closeInput()
        _ = try await writer.result()
    }
}
