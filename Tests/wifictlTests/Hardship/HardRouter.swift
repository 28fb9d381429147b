import SocketCore
import TestSupport
import Testing

/// A `wifictl router` on loopback and the words for talking to it, for tests that mistreat processes.
struct HardRouter {
    static let mac = "02:00:5e:00:53:01"

    let port: Int
    let tcp: Int
    let child: ChildProcess

    static func start(port: Int? = nil, tcp: Int = 0) async throws -> HardRouter {
        let port = try port ?? Loopback.freePort()
        let (child, bound) = try await Loopback.router(port: port, ["--mac", mac, "--tcp", "\(tcp)"])
        return HardRouter(port: port, tcp: bound, child: child)
    }

    var endpoint: Endpoint { Endpoint(.loopback, port: UInt16(tcp)) }

    /// `wifictl` with these words, then where to find the router.
    func tool(_ words: [String]) -> [String] { [BuiltTool.path] + words + ["--interface", "lo", "--port", "\(port)"] }

    /// A `send` that takes lines from standard input.
    func sender(_ home: TemporaryDirectory, prefix: [String] = [], timeout: String = "120s") throws -> ChildProcess {
        try ChildProcess(
            prefix + tool(["send", Self.mac, "--stdin", "--json", "--timeout", timeout]), environment: ["WIFICTL_HOME": home.path])
    }

    /// Sends what is left and one more body; everything must be settled then.
    func settle(_ home: TemporaryDirectory, _ last: String) async throws {
        let result = try await runCommand(tool(["send", Self.mac, last, "--json"]), environment: ["WIFICTL_HOME": home.path])
        #expect(result.status == 0, "\(result.text)\(result.errorText)")
    }

    /// Ends the router and gives the texts that its application took, in order.
    func taken() async throws -> [String] {
        child.signal(2)
        return try jsonLines(try await child.result(), "message").compactMap { $0["text"]?.stringValue }
    }
}

/// The lines of one type.
func jsonLines(_ result: CommandResult, _ type: String) throws -> [JSONValue] {
    try result.lines.filter { $0.hasPrefix("{") && $0.contains("\"type\":\"\(type)\"") }.map { try JSONValue.parse(Array($0.utf8)) }
}

extension ChildProcess {
    func write(lines: [String]) { write(Array(lines.map { $0 + "\n" }.joined().utf8)) }
}
