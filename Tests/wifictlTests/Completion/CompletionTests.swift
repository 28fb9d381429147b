import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// What is offered for words typed so far.
struct CompletionCoreTests {
    private let core = CompletionCore(
        commands: CommandRegistry.commands,
        facts: .init(
            routers: { [.init(word: "Attic", note: "02:00:5e:00:53:01"), .init(word: "Living room", note: "")] },
            interfaces: { [.init(word: "eth0", note: ""), .init(word: "lo", note: "127.0.0.1")] },
            trusted: { [.init(word: "root.pem", note: "root")] }, pinned: { [.init(word: "02:00:5e:00:53:09", note: "")] },
            properties: ["wifi.ssid", "led"], streams: ["log"]))

    private func words(_ typed: String...) -> [String] { core.answer(typed).candidates.map(\.word) }

    @Test func `every command and every option is offered`() {
        for command in CommandRegistry.commands {
            let parts = command.name.split(separator: " ").map(String.init)
            #expect(words(parts[0]).contains(parts[0]))
            if parts.count == 2 { #expect(words(parts[0], parts[1]).contains(parts[1])) }
            for option in command.options { #expect(core.answer(parts + ["--"]).candidates.map(\.word).contains("--\(option.name)")) }
        }
    }

    @Test func `only what fits the place and the letters is offered`() {
        #expect(words("di") == ["discover", "dissector"])
        #expect(words("completions", "") == ["bash", "zsh", "fish"])
        #expect(words("send", "") == ["Attic", "Living room"])
        #expect(words("send", "liv") == ["Living room"])
        #expect(words("send", "Attic", "") == [])
        #expect(words("get", "--json", "--interface", "") == ["eth0", "lo"])
        #expect(words("--interface", "l") == ["lo"])
        #expect(words("--interface", "lo", "swi") == ["switch"])
        #expect(words("frames", "--layout", "asciiL") == ["asciiLength"])
        #expect(words("frames", "--layout=littleE") == ["--layout=littleEndian"])
        #expect(words("conform", "--only", "frame-c") == ["frame-cuts", "frame-claims"])
        #expect(words("discover", "--dialect", "native,ss") == ["native,ssdp"])
        #expect(words("identity", "re") == ["revoke"])
        #expect(words("frames", "--layout", "l") == ["littleEndian"] && words("frames", "--layout", "little-") == [])
        #expect(words("bench", "de") == ["decode"] && words("bench", "decode", "en") == ["encode"])
        #expect(words("get", "Attic", "w") == ["wifi.ssid"] && words("set", "Attic", "led=true", "w") == ["wifi.ssid="])
        #expect(words("read", "Attic", "") == ["log"] && words("read", "Attic", "log", "") == [])
        #expect(words("trust", "remove", "") == ["root.pem"] && words("trust", "unpin", "02") == ["02:00:5e:00:53:09"])
        #expect(words("nonsense", "") == [])
    }

    @Test func `an option is offered once unless it may be repeated, and none behind two dashes`() {
        #expect(!words("discover", "--watch", "--").contains("--watch"))
        #expect(words("discover", "--interface", "lo", "--int").contains("--interface"))
        #expect(words("send", "--", "--") == [])
        #expect(words("send", "--", "At") == ["Attic"])
    }

    @Test func `files are left to the shell`() {
        #expect(core.answer(["frames", ""]).wantsFiles)
        #expect(core.answer(["verify", "--root", ""]).wantsFiles)
        #expect(core.answer(["identity", "new-company", ""]).wantsFiles)
        #expect(!core.answer(["send", ""]).wantsFiles)
    }
}

/// The scripts in the shells that they're for, where these are here.
struct CompletionShellTests {
    private static func isThere(_ shell: String) -> Bool {
        ["/bin/", "/usr/bin/", "/usr/local/bin/"].contains { FileManager.default.isExecutableFile(atPath: $0 + shell) }
    }

    /// A home with known routers, one with a space in its name and one whose MAC must do.
    private func home() async throws -> TemporaryDirectory {
        let home = try TemporaryDirectory()
        let port = try Loopback.freePort()
        let routers = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--name", "Living room", "--tcp", "0"])
        let other = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:07", "--name", "Attic", "--tcp", "0"])
        let found = try await Loopback.discover(port: port, ["--for", "2s"], home: home.path)
        #expect(found.routers.count == 2)
        withExtendedLifetime((routers.child, other.child)) {}
        return home
    }

    private func run(_ shell: [String], _ script: String, _ home: TemporaryDirectory) async throws -> CommandResult {
        let folder = URL(fileURLWithPath: BuiltTool.path).deletingLastPathComponent().path
        let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return try await runCommand(
            shell, input: Array(script.utf8),
            environment: ["WIFICTL_HOME": home.path, "PATH": folder + ":" + path, "HOME": home.path, "TERM": "dumb"], within: .seconds(120))
    }

    @Test(.enabled(if: isThere("bash")))
    func `bash completes commands, options, names with spaces, MACs and files`() async throws {
        let home = try await home()
        try "x".write(toFile: home.file("capture.pcap"), atomically: true, encoding: .utf8)
        let script = """
            source <(wifictl completions bash)
            try() { COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 )); COMPREPLY=(); _wifictl; echo "${COMPREPLY[*]}"; }
            complete -p wifictl
            try wifictl di
            try wifictl discover --dia
            try wifictl send Liv
            try wifictl send '"Liv'
            try wifictl frames --layout = l
            try wifictl get "'At"
            try wifictl get 02 : 00 : 5e : 00 : 53 : 07
            try wifictl discover --dialect native,ss
            try wifictl set Attic le
            cd "$WIFICTL_HOME"; try wifictl frames cap
            """
        let result = try await run(["bash", "--norc"], script, home)
        #expect(
            result.lines == [
                "complete -F _wifictl wifictl", "discover dissector", "--dialect", "Living\\ room", "Living room",
                "littleEndian",
                "Attic", "07", "native,ssdp", "led=",
                "capture.pcap",
            ], "\(result.text)\(result.errorText)")
    }

    /// A real zsh on a terminal of its own: what Tab makes of the line.
    @Test(.enabled(if: isThere("zsh"), "zsh isn't here: apt-get install zsh"))
    func `zsh completes on a terminal`() async throws {
        let home = try await home()
        let script = """
            zmodload zsh/zpty
            zpty z zsh -f -i
            zpty -w z 'PS1=; autoload -U compinit; compinit -u -d "$HOME/.zcompdump"; source <(wifictl completions zsh)'
            zpty -w z 'show() { print -r -- "LI""NE<$BUFFER>"; BUFFER=; }; zle -N show; bindkey "^X" show; print -r -- "REA""DY"'
            zpty -r z reply '*READY*'
            try() {
                zpty -w -n z "$1"$'\\t\\x18'
                zpty -r z reply '*LINE<*>*'
                print -r -- "${${reply##*LINE<}%%>*}"
            }
            try 'wifictl dissec'
            try 'wifictl send Liv'
            try 'wifictl identity issue-o'
            try "wifictl get 'Att"
            try 'wifictl get Living\\ r'
            try 'wifictl get 02:00:5e:00:53:07'
            try 'wifictl set Attic le'
            try 'wifictl frames --layout=l'
            """
        let result = try await run(["zsh", "-f"], script, home)
        #expect(
            result.lines == [
                "wifictl dissector ", "wifictl send Living\\ room ", "wifictl identity issue-operator ", "wifictl get 'Attic' ",
                "wifictl get Living\\ room ", "wifictl get 02:00:5e:00:53:07 ", "wifictl set Attic led=",
                "wifictl frames --layout=littleEndian ",
            ],
            "\(result.text)\(result.errorText)")
    }

    @Test(.enabled(if: isThere("fish"), "fish isn't here: apt-get install fish"))
    func `fish completes with notes`() async throws {
        let home = try await home()
        let script = """
            wifictl completions fish | source
            complete -C 'wifictl di'
            complete -C 'wifictl send Li'
            complete -C 'wifictl discover --dia'
            complete -C 'wifictl frames --layout l'
            complete -C "wifictl get 'Att"
            complete -C 'wifictl get Living\\ r'
            complete -C 'wifictl get 02:00:5e:00:53:0'
            """
        let result = try await run(["fish", "--no-config"], script, home)
        #expect(result.lines.count == 9, "\(result.text)\(result.errorText)")
        #expect(result.lines.prefix(2).map { $0.prefix { $0 != "\t" } } == ["discover", "dissector"])
        #expect(result.text.contains("Living room\t02:00:5e:00:53:01"))
        #expect(
            result.lines.suffix(4).map { $0.prefix { $0 != "\t" } }.sorted() == [
                "02:00:5e:00:53:01", "02:00:5e:00:53:07", "Attic", "Living room",
            ], "\(result.text)")
        #expect(result.text.contains("--dialect\t") && result.text.contains("littleEndian"))
    }
}
