import Foundation
import SocketCore
import TestSupport
import Testing

/// A disk that is really full: a small file system of its own for the state directory, which only root can make.
@Suite("A full disk", .enabled(if: TestLAN.isWanted), .serialized, .timeLimit(.minutes(3)))
struct FullDiskLANTests {
    static let mac = "02:00:5e:00:53:01"

    @Test func `no room for the outbox is told at once, nothing is lost, and all goes on when there's room again`() async throws {
        let port = Int.random(in: 30_000...60_000)
        let place = ["--interface", "lo", "--port", "\(port)", "--json"]
        let router = try ChildProcess([BuiltTool.path, "router", "--mac", Self.mac, "--tcp", "0"] + place)
        _ = try await router.line("listening") { $0.contains(#""type":"listening""#) }
        let home = try TemporaryDirectory()
        let filler = "/filler"
        let script = """
            mount -t tmpfs -o size=128k,mode=700 none "$WIFICTL_HOME" && head -c 90000 /dev/zero > "$WIFICTL_HOME\(filler)" &&
            exec "$0" "$@" 2>&1
            """
        let words = [BuiltTool.path, "send", Self.mac, "--stdin", "--timeout", "120s"] + place
        let sender = try ChildProcess(["unshare", "--mount", "sh", "-c", script] + words, environment: ["WIFICTL_HOME": home.path])
        let lines = (1...60).map { "line \($0) " + String(repeating: "x", count: 1_000) }
        sender.write(Array(lines.map { $0 + "\n" }.joined().utf8))
        _ = try await sender.line("the remark") { $0.contains("cannot keep the journal") && $0.contains("No space left on device") }
        // The process's own view of its files is the way into its file system.
        try FileManager.default.removeItem(atPath: "/proc/\(sender.id)/root\(home.path)\(filler)")
        _ = try await sender.line("the good news") { $0.contains("the journal can be kept again") }
        sender.closeInput()
        let result = try await sender.result(within: .seconds(130))
        #expect(result.status == 0, "\(result.text)")
        #expect(result.lines.count { $0.contains(#""outcome":"delivered""#) } == 60)
        router.signal(SIGINT)
        let taken = try await router.result().lines.filter { $0.contains(#""type":"message""#) }
            .compactMap { try JSONValue.parse(Array($0.utf8))["text"]?.stringValue }
        #expect(taken == lines)
    }
}
