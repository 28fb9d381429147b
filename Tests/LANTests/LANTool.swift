import SocketCore
import TestSupport
import Testing

/// What one `wifictl discover` said.
struct Findings {
    let status: Int32
    let routers: [JSONValue]
    let selected: JSONValue
    let summary: JSONValue
    /// Everything that was printed, for a failing test.
    let text: String

    /// The routers' MACs, in the order of the lines.
    var macs: [String] { routers.compactMap { $0["mac"]?.stringValue } }

    subscript(mac: String) -> JSONValue? { routers.first { $0["mac"]?.stringValue == mac } }
}

extension TestLAN {
    /// Starts a router on a host, with the host's MAC and name, and waits until it listens.
    func startRouter(_ name: String, _ words: [String] = []) async throws -> ChildProcess {
        let host = try #require(hosts.first { $0.name == name })
        let child = try start(name, [BuiltTool.path, "router", "--mac", host.mac, "--name", name, "--json"] + words)
        _ = try await child.line("listening", within: .seconds(60)) { $0.contains(#""type":"listening""#) }
        return child
    }

    /// Runs `discover` on a host to its end, with a state directory of its own.
    func discover(from host: String = "ctl", _ words: [String]) async throws -> Findings {
        let home = try TemporaryDirectory()
        let result = try await run(host, [BuiltTool.path, "discover", "--json", "--home", home.path] + words)
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        let text = result.text + result.errorText
        return Findings(
            status: result.status, routers: lines.filter { $0["type"] == "router" },
            selected: try #require(lines.first { $0["type"] == "selected" }, "\(text)"), summary: try #require(lines.last, "\(text)"),
            text: text)
    }
}
