import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// A large read that is killed by SIGKILL goes on where it was.
@Suite("A read that is killed", .timeLimit(.minutes(10)))
struct KilledReadTests {
    private static let mac = "02:00:5e:00:53:01"

    private func size(_ path: String) -> Int {
        var status = stat()
        return stat(path, &status) == 0 ? Int(status.st_size) : 0
    }

    @Test func `a router that goes away is told, waited for, and gone on with; away for too long, it's an error that says so`() async throws
    {
        let (port, tcp) = (try Loopback.freePort(), try FreePort.next())
        let (home, folder) = (try TemporaryDirectory(), try TemporaryDirectory())
        let words = ["--mac", Self.mac, "--tcp", "\(tcp)"]
        let file = folder.file("log")
        /// A read whose router was killed in the middle of it; on a busy machine a kill may come after the end, and then it's begun anew.
        func interrupted(_ limit: String) async throws -> ChildProcess {
            let command =
                "exec '\(BuiltTool.path)' read \(Self.mac) log --output '\(file)' --timeout \(limit) --interface lo --port \(port) 2>&1"
            while true {
                let router = try await Loopback.router(port: port, words + ["--slow-read", "400"]).child
                let reader = try ChildProcess(
                    ["sh", "-c", command], environment: ["WIFICTL_HOME": home.path, "WIFICTL_CONFIG": "/dev/null"])
                while size(file + ".part") == 0, size(file) == 0 { await Task.yield() }
                router.signal(SIGKILL)
                _ = try await router.result()
                do {
                    _ = try await reader.line("the loss") {
                        $0.contains("the connection with \(Self.mac) is lost: ") && $0.contains("trying again")
                    }
                    return reader
                } catch CommandError.ended { unlink(file) }
            }
        }
        let patient = try await interrupted("60s")
        let router = try await Loopback.router(port: port, words).child
        _ = try await patient.line("the return") { $0.contains("the connection with \(Self.mac) stands again") }
        #expect(try await patient.result().status == 0)
        unlink(file)
        router.signal(SIGKILL)
        _ = try await router.result()
        let ended = try await interrupted("4s").result()
        #expect(ended.status == 2, "\(ended.text)")
        let last = ended.lines.last ?? ""
        #expect(last.contains("no answer from \(Self.mac) within 4.0 s (") && last.contains(" of 5120 bytes read"), "\(ended.text)")
        #expect(last.contains("they are in \(file).part, and the same command goes on there"), "\(ended.text)")
        #expect(size(file + ".part") > 0)
    }

    @Test func `what came is kept, the rest is asked for, and nothing lies beside the file in the end`() async throws {
        let port = try Loopback.freePort()
        let (home, folder) = (try TemporaryDirectory(), try TemporaryDirectory())
        // Slow enough that the kill comes in the middle.
        let router = try await Loopback.router(port: port, ["--mac", Self.mac, "--slow-read", "400"]).child
        let file = folder.file("log")
        let words = ["read", Self.mac, "log", "--output", file, "--interface", "lo", "--port", "\(port)"]
        var kept = 0
        // On a busy machine a kill may come after the end.
        repeat {
            unlink(file)
            let victim = try ChildProcess(
                [BuiltTool.path] + words + ["--home", home.path], environment: ["WIFICTL_CONFIG": "/dev/null"])
            while size(file + ".part") == 0, size(file) == 0 { await Task.yield() }
            victim.signal(SIGKILL)
            _ = try await victim.result()
            kept = size(file + ".part")
        } while kept == 0
        #expect(kept < 5_120 && size(file) == 0 && size(file + ".part.json") > 0)
        let rest = try await BuiltTool.run(words + ["--json"], home: home.path, within: .seconds(240))
        let line = try JSONValue.parse(Array(try #require(rest.lines.last { $0.contains(#""type":"read""#) }).utf8))
        #expect(line["bytes"] == 5_120 && line["kept"] == .integer(Int64(kept)), "\(rest.text)\(rest.errorText)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: file)) == Data((0..<5_120).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 13) }))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["log"])
        router.signal(SIGINT)
        let log = try await router.result().lines.filter { $0.contains(#"\"op\":\"read\""#) }
        // The second run began behind what was kept.
        let begun = try #require(log.lastIndex { $0.contains(#"\"offset\":\#(kept),"#) }, "\(log)")
        #expect(!log[begun...].contains { $0.contains(#"\"offset\":0,"#) })
    }
}
