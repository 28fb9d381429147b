import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// The configuration file's text, on its own.
struct SettingsTextTests {
    @Test func `blank lines and comments say nothing and blanks around words don't count`() throws {
        let text = "\u{FEFF}# mine\r\n\r\n  port=5\r\n\tname = a = b # c \n"
        #expect(
            try SettingsText.lines(text) == [
                .init(number: 3, name: "port", value: "5"), .init(number: 4, name: "name", value: "a = b # c"),
            ])
        #expect(try SettingsText.lines("") == [])
    }

    @Test(arguments: [
        ("port 5", 1, "'port 5' is no setting", "write name = value"), ("\n\n--port = 5", 3, "'--port' has dashes", "write port = 5"),
        ("# x\nport =", 2, "port has no value", "write port = value, or leave the line out"),
    ])
    func `a line that can't be read is named`(text: String, line: Int, complaint: String, hint: String) {
        #expect(throws: SettingsText.Problem(line: line, complaint: complaint, hint: hint)) { try SettingsText.lines(text) }
    }
}

/// Settings and where they come from.
struct SettingsTests {
    private func settings(_ file: String?, _ variables: [String: String] = [:]) throws -> Settings {
        let all = ["HOME": "/me"].merging(variables) { $1 }
        return try Settings(environment: { all[$0] }, read: { _ in file })
    }

    private func entry(_ name: String, _ settings: Settings) -> [String]? { settings.entries[name]?.values }

    @Test func `the file lies where a variable says, else where XDG says`() throws {
        #expect(try settings("").path == "/me/.config/wifictl/config")
        #expect(try settings("", ["XDG_CONFIG_HOME": "/x"]).path == "/x/wifictl/config")
        #expect(try settings("", ["XDG_CONFIG_HOME": "relative"]).path == "/me/.config/wifictl/config")
        #expect(try settings("", ["XDG_CONFIG_HOME": "/x", "WIFICTL_CONFIG": "/own"]).path == "/own")
        #expect(try !settings(nil).hasFile)
        #expect(throws: ToolError.self) { try settings(nil, ["WIFICTL_CONFIG": "/own"]) }
    }

    @Test func `a variable goes before the file and files are named relative to it`() throws {
        let file = "port = 1\ninterface = a\ninterface = b\nroot = r.pem\nroot = ~/s.pem\nroot = /t.pem"
        let found = try settings(file, ["WIFICTL_PORT": "2", "WIFICTL_TIMEOUT": "9s", "WIFICTL_LAYOUT": ""])
        #expect(entry("port", found) == ["2"] && entry("timeout", found) == ["9s"] && entry("layout", found) == nil)
        #expect(entry("interface", found) == ["a", "b"])
        #expect(entry("root", found) == ["/me/.config/wifictl/r.pem", "/me/s.pem", "/t.pem"])
        #expect(found.entries["port"]?.source == .environment(variable: "WIFICTL_PORT"))
        #expect(found.entries["root"]?.source == .file(line: 4))
        #expect(try entry("interface", settings(nil, ["WIFICTL_INTERFACE": "x,y"])) == ["x", "y"])
    }

    @Test(arguments: [
        ("prot = 5", "/me/.config/wifictl/config:1: there is no setting 'prot' (did you mean port?)"),
        ("port = 5\nport = 6", "/me/.config/wifictl/config:2: port is set twice (only one value counts; the other is in line 1)"),
        ("\nlayout = standart", "/me/.config/wifictl/config:2: layout: 'standart' isn't known (did you mean standard?)"),
        ("json = true", "/me/.config/wifictl/config:1: there is no setting 'json' (wifictl config lists them)"),
    ])
    func `what is wrong is said with file and line`(text: String, message: String) throws {
        do {
            _ = try settings(text)
            Issue.record("accepted")
        } catch let error as ToolError { #expect(error.description == message) }
    }

    @Test func `an option goes before a setting, and one of a pair sets the other aside`() throws {
        let settings = try settings("port = 5\nidentity = i.pem\nkey = i.key\nbssid = 02:00:5e:00:53:11")
        let given = try Command.send.parser.parse(["attic", "x", "--identity", "mine.pem"])
        let filled = try given.filled(from: settings, for: .send)
        #expect(filled[CommonOptions.port] == 5 && !filled.isGiven(CommonOptions.port))
        #expect(filled[TrustOptions.identity] == "mine.pem" && filled[TrustOptions.key] == nil)
        let plain = try Command.discover.parser.parse(["--port", "6"]).filled(from: settings, for: .discover)
        #expect(plain[CommonOptions.port] == 6 && plain[TrustOptions.key] == "/me/.config/wifictl/i.key")
        #expect(plain[ScanOptions.bssid].count == 1)
    }

    @Test func `a router is given neither the controller's identity nor its access point`() throws {
        let settings = try settings("identity = i.pem\nkey = i.key\ncrl = c.pem\nbssid = 02:00:5e:00:53:11\nlayout = asciiLength")
        let filled = try Command.router.parser.parse([]).filled(from: settings, for: .router)
        #expect(filled[TrustOptions.identity] == nil && filled[TrustOptions.key] == nil && filled[TrustOptions.revocationList] == [])
        #expect(filled[FrameOptions.layout] == .asciiLength)
    }

    @Test func `a setting holds for every command that takes such an option, but where the word means another thing`() throws {
        var others: Set<String> = []
        for command in CommandRegistry.commands {
            for setting in Setting.all {
                guard let option = (CommonOptions.all + command.options).first(where: { $0.name == setting.name }) else { continue }
                if !setting.holds(for: command) { others.insert("\(command.name) --\(option.name)") }
            }
        }
        #expect(
            others == [
                // A router's own.
                "router --bssid", "router --identity", "router --key", "router --crl", "router --pen",
                // What a new company, or a device, is to be called.
                "identity new-company --pen", "identity issue-device --bssid",
                // Not how long to look for routers.
                "doctor --for", "bench --for", "fuzz --for",
            ], "\(others)")
        let settings = try settings("identity = i.pem\nkey = i.key\ncrl = c.pem")
        let filled = try Command.conform.parser.parse(["127.0.0.1"]).filled(from: settings, for: .conform)
        #expect(filled[TrustOptions.identity] != nil && filled[TrustOptions.key] != nil && filled[TrustOptions.revocationList].count == 1)
    }

    @Test func `an error says where the setting is that it's about, and nothing of those that an option sets aside`() throws {
        let settings = try settings("interface = nolo\nidentity = /i.pem\nhome = /state", ["WIFICTL_CRL": "c"])
        func told(_ error: any Error, _ words: [String] = []) throws -> String {
            let filled = try Command.verify.parser.parse(words).filled(from: settings, for: .verify)
            return "\(settings.placing(error, filled))"
        }
        let file = "/me/.config/wifictl/config"
        let half = UsageError("--key is missing", hint: "why", about: "identity")
        #expect(try told(half) == "--key is missing (why; identity = /i.pem is set by \(file):2)")
        #expect(try told(half, ["--identity", "x"]) == "--key is missing (why)")
        #expect(try told(ToolError("no nolo", about: "interface")) == "no nolo (interface = nolo is set by \(file):1)")
        #expect(try told(ToolError("no nolo")) == "no nolo")
        // Files are known by their names, whoever speaks of them.
        #expect(
            try told(TLSError.configuration("cannot open /i.pem: why")).hasSuffix(
                "cannot open /i.pem: why (identity = /i.pem is set by \(file):2)"))
        let advised = try told(TLSError.configuration("cannot open c: why (check it)"))
        #expect(advised.hasSuffix("cannot open c: why (check it; crl = c is set by WIFICTL_CRL)"), "\(advised)")
        #expect(try told(ToolError("cannot open /state/state.json")).hasSuffix("(home = /state is set by \(file):3)"))
        #expect(try told(ToolError("cannot open /states")) == "cannot open /states")
    }

    @Test func `every setting is an option of some command and every default in the sample can be taken as it stands`() throws {
        for setting in Setting.all {
            #expect(CommandRegistry.commands.contains { $0.name != "config" && setting.holds(for: $0) }, "\(setting.name)")
            if let text = setting.option.defaultText { _ = try setting.option.read(text) }
        }
    }
}

/// `wifictl config`, run as a user would.
struct ConfigToolTests {
    @Test func `each setting is shown with where it comes from`() async throws {
        let directory = try TemporaryDirectory()
        try Data("# mine\nport = 20000\nlayout = asciiLength\n".utf8).write(to: URL(fileURLWithPath: directory.file("config")))
        let environment = ["WIFICTL_CONFIG": directory.file("config"), "WIFICTL_TIMEOUT": "5s"]
        let result = try await BuiltTool.run(["config", "--json", "--limit", "2KiB"], environment: environment)
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let shown = { (name: String) in lines.first { $0["name"] == .string(name) } }
        #expect(lines.count == Setting.all.count && result.status == 0)
        #expect(shown("port")?["source"] == "file" && shown("port")?["value"] == "20000")
        #expect(shown("layout")?["place"] == .string(directory.file("config") + ":3"))
        #expect(shown("timeout")?["source"] == "environment" && shown("timeout")?["place"] == "WIFICTL_TIMEOUT")
        #expect(shown("limit")?["source"] == "option" && shown("limit")?["value"] == "2KiB")
        #expect(shown("for")?["source"] == "default" && shown("for")?["value"] == "3s")
        // It holds: a frame in the layout of the file is read without saying so.
        let frames = try await BuiltTool.run(
            ["frames", "--json", "--hex"], input: Array("00000007 0001 30303031 41".utf8), environment: environment)
        #expect(frames.text.contains(#""msgId":7"#) && frames.status == 0, "\(frames.text) \(frames.errorText)")
    }

    @Test func `a bad file ends every command with its name and line, and help works all the same`() async throws {
        let directory = try TemporaryDirectory()
        try Data("port = 70000".utf8).write(to: URL(fileURLWithPath: directory.file("config")))
        let environment = ["WIFICTL_CONFIG": directory.file("config")]
        let result = try await BuiltTool.run(["routers"], environment: environment)
        #expect(result.status == 2)
        #expect(result.errorText.hasPrefix("wifictl: \(directory.file("config")):1: port: '70000' isn't a whole number"))
        #expect(try await BuiltTool.run(["routers", "--help"], environment: environment).status == 0)
    }

    @Test func `half an identity and an interface that isn't there are told with the line that names them`() async throws {
        let directory = try TemporaryDirectory()
        let file = directory.file("config")
        let network = ["--port", "\(try Loopback.freePort())"]
        try Data("identity = x.pem".utf8).write(to: URL(fileURLWithPath: file))
        let half = try await BuiltTool.run(["get", "attic", "led", "--interface", "lo"] + network, environment: ["WIFICTL_CONFIG": file])
        #expect(
            half.status == 64 && half.errorText.contains("identity = \(directory.file("x.pem")) is set by \(file):1"), "\(half.errorText)")
        for command in [["discover"], ["get", "attic", "led"], ["router"]] {
            let missing = try await BuiltTool.run(command + network, environment: ["WIFICTL_INTERFACE": "nolo"])
            #expect(
                missing.status == 2 && missing.errorText.contains("interface = nolo is set by WIFICTL_INTERFACE"), "\(missing.errorText)")
        }
    }

    @Test func `the sample is a file that says nothing`() async throws {
        let result = try await BuiltTool.run(["config", "--sample"])
        #expect(try SettingsText.lines(result.text).isEmpty && result.text.contains("\n#layout = standard\n"))
    }
}
