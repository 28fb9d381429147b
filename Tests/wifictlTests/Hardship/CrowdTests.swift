import SocketCore
import TestSupport
import Testing

@Suite("More commands at one router than it has journals", .timeLimit(.minutes(10)))
struct CrowdTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func run(_ router: HardRouter, _ words: [String]) async throws -> CommandResult {
        try await runCommand(router.tool(words), environment: ["WIFICTL_HOME": home.path], within: .seconds(300))
    }

    @Test func `while eight hold them, twelve get, read and set; a ninth send waits for one, or says why it can't`() async throws {
        let router = try await HardRouter.start()
        var senders: [ChildProcess] = []
        for number in 0..<8 {
            let sender = try router.sender(home, timeout: "600s")
            sender.write(lines: ["\(number)"])
            _ = try await sender.line("acceptance") { $0.contains(#""type":"accepted""#) }
            senders.append(sender)
        }
        try await withThrowingTaskGroup(of: CommandResult.self) { group in
            let log = home.file("log")
            let others = [["read", HardRouter.mac, "log", "--output", log], ["set", HardRouter.mac, "led=false"]]
            let words = Array(repeating: ["get", HardRouter.mac, "wifi.ssid", "--timeout", "600s"], count: 10) + others
            for one in words { group.addTask { try await run(router, one) } }
            for try await result in group {
                #expect(result.status == 0 && !result.errorText.contains("journal"), "\(result.text)\(result.errorText)")
            }
        }
        let late = try await run(router, ["send", HardRouter.mac, "late", "--timeout", "1s"])
        #expect(late.status == 2, "\(late.text)\(late.errorText)")
        #expect(
            late.errorText.contains("others hold all 8 journals") && late.errorText.contains("nothing was accepted"), "\(late.errorText)")
        let ninth = try ChildProcess(
            ["sh", "-c", #"exec "$@" 2>&1"#, "sh"] + router.tool(["send", HardRouter.mac, "8", "--timeout", "600s"]),
            environment: ["WIFICTL_HOME": home.path])
        _ = try await ninth.line("the remark") { $0.contains("others hold all 8 journals") && $0.contains("waiting for one") }
        senders[5].closeInput()
        let result = try await ninth.result()
        #expect(result.status == 0, "\(result.text)")
        for sender in senders {
            sender.closeInput()
            #expect(try await sender.result().status == 0)
        }
        #expect(try await router.taken().filter { !$0.contains("op") }.sorted() == (0..<9).map { "\($0)" })
    }
}
