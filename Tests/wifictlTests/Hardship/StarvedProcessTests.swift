import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

@Suite("Processes that run out of something", .timeLimit(.minutes(10)))
struct StarvedProcessTests {
    /// Runs a command within limits that the shell sets; its standard error goes to its standard output.
    private func limited(_ limits: String, _ words: [String], environment: [String: String] = [:]) throws -> ChildProcess {
        try ChildProcess(["sh", "-c", limits + #"; exec "$0" "$@" 2>&1"#] + words, environment: environment)
    }

    /// A TCP connection that says nothing.
    private func connection(to port: Int) -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = in_port_t(port).bigEndian
        withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                _ = connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        return descriptor
    }

    @Test func `a listener without descriptors says so, rests instead of turning in circles, and takes newcomers when it has some`()
        async throws
    {
        let port = try Loopback.freePort()
        let words = ["router", "--interface", "lo", "--port", "\(port)", "--json", "--mac", HardRouter.mac, "--tcp", "0"]
        let child = try limited("ulimit -n 40", [BuiltTool.path] + words)
        let listening = try JSONValue.parse(Array(try await child.line("listening") { $0.contains(#""type":"listening""#) }.utf8))
        let tcp = Int(try #require(listening["tcp"]?.integerValue))
        let clock = ContinuousClock()
        let start = clock.now
        var crowd: [Int32] = []
        for _ in 0..<80 { crowd.append(connection(to: tcp)) }
        for _ in 0..<10 { _ = try await child.line("a remark") { $0.contains("accept") && $0.contains("too many open files") } }
        for descriptor in crowd { close(descriptor) }
        let router = HardRouter(port: port, tcp: tcp, child: child)
        let home = try TemporaryDirectory()
        try await router.settle(home, "hello")
        child.signal(SIGINT)
        let result = try await child.result()
        #expect(try jsonLines(result, "message").compactMap { $0["text"]?.stringValue } == ["hello"])
        // A rest is 100 ms: what turns in circles says it thousands of times.
        let remarks = result.lines.count { $0.contains("too many open files") }
        let rests = Int((clock.now - start) / .milliseconds(100))
        #expect(remarks <= rests + 1, "\(remarks) remarks in the time of \(rests) rests")
    }

    @Test func `a file that may grow no more: said clearly, nothing accepted that isn't kept, nothing kept that is lost`() async throws {
        let router = try await HardRouter.start()
        let home = try TemporaryDirectory()
        let lines = (1...60).map { "line \($0) " + String(repeating: "x", count: 1_000) }
        let sender = try limited(
            "trap '' XFSZ; ulimit -f 40", router.tool(["send", HardRouter.mac, "--stdin", "--json", "--timeout", "5s"]),
            environment: ["WIFICTL_HOME": home.path])
        sender.write(lines: lines)
        sender.closeInput()
        _ = try await sender.line("the remark", within: .seconds(60)) { $0.contains("cannot keep the journal") && $0.contains("make room") }
        let result = try await sender.result(within: .seconds(90))
        #expect(result.status != 0)
        let accepted = try jsonLines(result, "accepted").compactMap { $0["line"]?.integerValue }
        #expect(accepted.count > 5 && accepted.count < 60)
        #expect(accepted == (1...Int64(accepted.count)).map { $0 })
        try await router.settle(home, "last")
        let taken = try await router.taken()
        #expect(Array(taken.prefix(accepted.count)) == Array(lines.prefix(accepted.count)) && taken.last == "last")
        #expect(taken.count <= accepted.count + 2, "at most the one that was being accepted came as well")
    }
}
