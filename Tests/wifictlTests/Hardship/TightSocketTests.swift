import SocketCore
import TestSupport
import Testing

/// Both ends in processes whose kernel takes and gives a few bytes a call, through the smallest buffers that there are.
@Suite("Processes with tight sockets", .timeLimit(.minutes(10)))
struct TightSocketTests {
    @Test func `frames that are cut at any byte by short writes and short reads, both ways, come whole, once and in order`() async throws {
        let folder = try TemporaryDirectory()
        let object = folder.file("tight.so")
        let compile = ["cc", "-shared", "-fPIC", "-O1", "-o", object, Repository.path("Fixtures/sockets/tight.c"), "-ldl"]
        try await runCommand(compile, mustSucceed: true)
        let tight = ["LD_PRELOAD": object]
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(port: port, ["--mac", HardRouter.mac, "--tcp", "0"], environment: tight)
        let router = HardRouter(port: port, tcp: tcp, child: child)
        // Each gets an answer of its own, so that as much goes back.
        let lines = (1...120).map { #"{"op":"echo","number":\#($0),"pad":"\#(String(repeating: "x", count: $0 * 5 % 97))"}"# }
        let home = try TemporaryDirectory()
        let sender = try ChildProcess(
            router.tool(["send", HardRouter.mac, "--stdin", "--json", "--timeout", "300s", "--expect-reply"]),
            environment: tight.merging(["WIFICTL_HOME": home.path]) { $1 })
        sender.write(lines: lines)
        sender.closeInput()
        let result = try await sender.result(within: .seconds(400))
        #expect(result.status == 0, "\(result.errorText)")
        let outcomes = try jsonLines(result, "outcome")
        #expect(outcomes.count == 120 && outcomes.allSatisfy { $0["outcome"] == "delivered" && $0["sends"] == 1 })
        #expect(try jsonLines(result, "session").count { $0["state"] == "open" } == 1)
        #expect(try jsonLines(result, "session").count { $0["state"] == "connecting" } == 1)
        let answers = try jsonLines(result, "message").compactMap { $0["text"]?.stringValue }
        let named = try answers.map { try JSONValue.parse(Array($0.utf8))["re"]?.integerValue ?? 0 }
        #expect(named == outcomes.compactMap { $0["msgId"]?.integerValue }.sorted())
        #expect(try await router.taken() == lines)
    }
}
