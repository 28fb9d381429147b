import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// The independent peer, where it is there.
enum WifiPeer {
    /// `$WIFIPEER`, else beside the repository.
    static let path: String? = {
        let beside = Repository.root.deletingLastPathComponent().appending(path: "shared/peer/wifipeer.py").path
        let named = ProcessInfo.processInfo.environment["WIFIPEER"]
        return [named, beside].compactMap { $0 }.first { FileManager.default.isReadableFile(atPath: $0) }
    }()

    static var isThere: Bool { path != nil }

    static func words(_ words: [String]) throws -> [String] { ["python3", try #require(path)] + words }
}

/// What tests of discovery on loopback need.
enum Loopback {
    /// See `FreePort`.
    static func freePort() throws -> Int { try FreePort.next() }

    /// `wifictl router --json` on loopback, once all its routers listen.
    static func router(
        port: Int, _ words: [String] = [], count: Int = 1, environment: [String: String] = [:]
    ) async throws -> (child: ChildProcess, tcp: Int) {
        let common = ["--interface", "lo", "--port", "\(port)", "--count", "\(count)", "--json"]
        // Not the protocol's own port: a controller tries that one at each address, and would find another test's router there.
        let tcp = words.contains("--tcp") ? [] : ["--tcp", "0"]
        let child = try ChildProcess([BuiltTool.path, "router"] + common + tcp + words, environment: environment)
        var last: JSONValue?
        for _ in 0..<count {
            last = try JSONValue.parse(Array(try await child.line("listening") { $0.contains(#""type":"listening""#) }.utf8))
        }
        return (child, Int(try #require(last?["tcp"]?.integerValue)))
    }

    /// `wifictl discover --json` on loopback.
    static func discover(
        port: Int, _ words: [String] = [], home: String? = nil, within limit: Duration = .seconds(60)
    ) async throws -> DiscoverLines {
        let all = ["discover", "--interface", "lo", "--port", "\(port)", "--json"] + words
        let result = try await BuiltTool.run(all, home: home, within: limit)
        return try DiscoverLines(result)
    }
}

/// What `discover --json` printed.
struct DiscoverLines {
    let status: Int32
    let routers: [JSONValue]
    let selected: JSONValue
    let summary: JSONValue

    init(_ result: CommandResult) throws {
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        status = result.status
        routers = lines.filter { $0["type"] == "router" }
        selected = try #require(lines.first { $0["type"] == "selected" }, "\(result.text)\(result.errorText)")
        summary = try #require(lines.last)
        #expect(summary["type"] == "summary")
    }
}

extension ChildProcess {
    /// Interrupts it, and gives its last JSON line: the summary.
    func summary() async throws -> JSONValue {
        signal(SIGINT)
        let result = try await result()
        #expect(result.status == 130, "\(result.errorText)")
        let summary = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
        #expect(summary["type"] == "summary")
        return summary
    }
}
