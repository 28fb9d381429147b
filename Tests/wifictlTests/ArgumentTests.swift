import Testing

@testable import wifictl

struct ArgumentTests {
    private static let span = DefaultedOption("for", "TIME", .duration, default: .seconds(3), shown: "3s", "how long")
    private static let limit = Option("limit", "SIZE", .size, "largest body")
    private static let bssid = RepeatedOption("bssid", "MAC", .text, "an address")
    private static let watch = Flag("watch", letter: "w", "go on")
    private static let terse = Flag("terse", letter: "t", "say less")

    private func parse(_ words: [String], positionals: ClosedRange<Int> = 0...2) throws(UsageError) -> Arguments {
        try ArgumentParser(
            options: [Self.span, Self.limit, Self.bssid, Self.watch, Self.terse], positionals: positionals,
            placeholders: ["ROUTER", "BODY"]
        ).parse(words)
    }

    private func problem(_ words: [String], positionals: ClosedRange<Int> = 0...2) -> String? {
        do throws(UsageError) {
            _ = try parse(words, positionals: positionals)
            return nil
        } catch { return error.description }
    }

    @Test func `options are read in both spellings wherever they stand`() throws {
        let arguments = try parse(["attic", "--for", "2s", "--bssid=a", "hello", "--watch", "--bssid", "b", "--limit=1KiB"])
        #expect(arguments.positionals == ["attic", "hello"])
        #expect(arguments[Self.span] == .seconds(2))
        #expect(arguments[Self.limit] == 1_024)
        #expect(arguments[Self.bssid] == ["a", "b"])
        #expect(arguments[Self.watch])
        #expect(!arguments[Self.terse])
        #expect(arguments.isGiven(Self.span))
    }

    @Test func `what isn't given has its default or none`() throws {
        let arguments = try parse([])
        #expect(arguments[Self.span] == .seconds(3))
        #expect(arguments[Self.limit] == nil)
        #expect(arguments[Self.bssid] == [])
        #expect(!arguments[Self.watch])
        #expect(!arguments.isGiven(Self.span))
    }

    @Test func `behind two dashes everything is positional and a single dash is too`() throws {
        #expect(try parse(["--", "--for", "-w"]).positionals == ["--for", "-w"])
        #expect(try parse(["-", "--", "--"]).positionals == ["-", "--"])
    }

    @Test func `values may be empty, hold equals signs or begin with one dash`() throws {
        #expect(try parse(["--bssid=", "--bssid=a=b", "--bssid", "-5", "--bssid", "-"])[Self.bssid] == ["", "a=b", "-5", "-"])
    }

    @Test func `letters stand for flags and may be joined`() throws {
        let arguments = try parse(["-wt"])
        #expect(arguments[Self.watch] && arguments[Self.terse])
    }

    @Test(arguments: [
        (["--wacth"], "unknown option --wacth (did you mean --watch?)"), (["--zzzzzz"], "unknown option --zzzzzz"),
        (["--for"], "option --for needs a value (write --for TIME, or --for=TIME)"),
        (["--for", "--watch"], "option --for needs a value (write --for TIME, or --for=TIME)"),
        (["--for", "soon"], "--for: 'soon' isn't a time (write 300ms, 2s, 1m or 1h)"),
        (["--for=1s", "--for=2s"], "option --for is given twice (only one value counts; leave one out)"),
        (["--watch=yes"], "option --watch takes no value (write just --watch)"),
        (["-5"], "unknown option -5 (options have two dashes; a value such as -5 goes behind --)"),
        (["a", "b", "c"], "unexpected argument 'c'"), (["--=x"], "unknown option --"),
    ])
    func `wrong usage is told with what would be right`(words: [String], message: String) {
        #expect(problem(words) == message)
    }

    @Test func `a missing argument is named`() {
        #expect(problem([], positionals: 2...2) == "ROUTER is missing")
        #expect(problem(["a"], positionals: 2...2) == "BODY is missing")
    }

    @Test func `a message of several lines becomes one`() {
        #expect(UsageError("a\nb", hint: "c\r\nd").description == "a b (c d)")
        #expect(
            ToolError("cannot open x: no such file", hint: "check the path").description == "cannot open x: no such file (check the path)")
    }
}

struct CommandLineTests {
    private static func command(_ name: String, _ positionals: [String] = []) -> Command {
        Command(name: name, summary: name, positionals: positionals, examples: [.init("wifictl \(name)", "")]) { _, _ in .success }
    }
    private static let commands = [
        command("discover"), command("send", ["ROUTER", "[BODY...]"]), command("identity show", ["FILE"]),
        command("identity revoke", ["SERIAL..."]),
    ]

    private func invocation(_ words: [String]) throws(UsageError) -> Invocation {
        try CommandRegistry.invocation(of: words, among: Self.commands)
    }

    private func problem(_ words: [String]) -> String? {
        do throws(UsageError) {
            _ = try invocation(words)
            return nil
        } catch { return error.description }
    }

    @Test func `a command is found and common options may stand before it`() throws {
        guard
            case .run(let command, let arguments) = try invocation(["--interface", "eth0", "--json", "send", "attic", "a", "b", "--port=5"])
        else {
            Issue.record("no command to run")
            return
        }
        #expect(command.name == "send")
        #expect(arguments.positionals == ["attic", "a", "b"])
        #expect(arguments[CommonOptions.interface] == ["eth0"])
        #expect(arguments[CommonOptions.json])
        #expect(arguments[CommonOptions.port] == 5)
    }

    @Test func `two words name a member of a family`() throws {
        guard case .run(let command, let arguments) = try invocation(["identity", "show", "a.pem"]) else {
            Issue.record("no command to run")
            return
        }
        #expect(command.name == "identity show")
        #expect(arguments.positionals == ["a.pem"])
    }

    @Test func `help is found however wrong the rest is, but not behind two dashes`() throws {
        for words in [["send", "--wrong", "--help"], ["help", "send"], ["send", "-h"]] {
            guard case .help(let command?) = try invocation(words) else {
                Issue.record("no help for \(words)")
                continue
            }
            #expect(command.name == "send")
        }
        guard case .help(nil) = try invocation(["--help"]), case .help(nil) = try invocation(["help"]),
            case .version = try invocation(["-V"])
        else {
            Issue.record("no help of the tool or no version")
            return
        }
        for words in [["identity", "--help"], ["help", "identity"]] {
            guard case .familyHelp(let family) = try invocation(words) else {
                Issue.record("no help for \(words)")
                continue
            }
            #expect(family.map(\.name) == ["identity show", "identity revoke"])
        }
        guard case .run = try invocation(["send", "attic", "--", "--help"]) else {
            Issue.record("a body of --help was taken for a wish for help")
            return
        }
    }

    @Test(arguments: [
        ([], "which command? (wifictl --help lists them)"), (["dicsover"], "unknown command 'dicsover' (did you mean discover?)"),
        (["qqqqqq"], "unknown command 'qqqqqq' (wifictl --help lists the commands)"),
        (["identity"], "identity what? (one of show, revoke)"),
        (["identity", "shwo"], "unknown command 'identity shwo' (did you mean identity show?)"),
        (["identitiy"], "unknown command 'identitiy' (did you mean identity?)"),
        (["send"], "ROUTER is missing (usage: wifictl send [OPTIONS] ROUTER [BODY...])"), (["--bogus"], "unknown option --bogus"),
        (["discover", "x"], "unexpected argument 'x' (usage: wifictl discover [OPTIONS])"),
        (["identity", "revoke"], "SERIAL is missing (usage: wifictl identity revoke [OPTIONS] SERIAL...)"),
        (["--versoin"], "unknown option --versoin (did you mean --version?)"),
    ])
    func `a wrong command line is told with what would be right`(words: [String], message: String) {
        #expect(problem(words) == message)
    }
}

/// What must hold of every command that is ever added.
struct RegistryTests {
    @Test(arguments: CommandRegistry.commands.map(\.name))
    func `a command's declaration is whole and without contradiction`(name: String) throws {
        let command = try #require(CommandRegistry.commands.first { $0.name == name })
        #expect(!command.summary.isEmpty && !command.summary.hasSuffix(".") && command.summary.count <= 80)
        #expect(!command.examples.isEmpty)
        #expect(command.examples.allSatisfy { $0.line.contains("wifictl " + name) && !$0.explanation.isEmpty })
        let options = command.options + CommonOptions.all
        #expect(Set(options.map(\.name)).count == options.count, "two options with one name")
        for option in command.options {
            #expect(!option.help.isEmpty && !option.help.hasSuffix("."))
            // The text that the help shows as the default must be what the option would read.
            if let text = option.defaultText { _ = try option.read(text) }
        }
    }

    @Test(arguments: CommandRegistry.commands.map(\.name))
    func `a default is shown as what it is`(name: String) throws {
        let command = try #require(CommandRegistry.commands.first { $0.name == name })
        for option in command.options {
            guard let text = option.defaultText else { continue }
            let value = try option.read(text)
            #expect(String(describing: value) == defaultDescription(option))
        }
    }

    private func defaultDescription(_ option: any OptionDeclaration) -> String? {
        Mirror(reflecting: option).children.first { $0.label == "defaultValue" }.map { String(describing: $0.value) }
    }

    @Test func `no two commands share a name and none begins as another family`() {
        let names = CommandRegistry.commands.map(\.name)
        #expect(Set(names).count == names.count)
        for name in names { #expect(!names.contains { $0.hasPrefix(name + " ") }, "\(name) is a command and a family") }
    }
}
