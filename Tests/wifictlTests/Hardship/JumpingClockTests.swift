import Foundation
import SocketCore
import TestSupport
import Testing

/// Sessions reckon in monotonic time; the wall clock is read for certificates and for the ages of what is known of routers. A jump of half
/// a day, forth or back, in the middle of things loses no message and no connection.
@Suite("Processes whose wall clock jumps", .timeLimit(.minutes(10)))
struct JumpingClockTests {
    /// The wall clock of the programs that are started with its environment: as far off as it was set last, while they run.
    private struct Clock {
        static let halfDay: Int64 = 12 * 3_600
        private let folder: TemporaryDirectory
        let environment: [String: String]

        init() async throws {
            folder = try TemporaryDirectory()
            let object = folder.file("jumping.so")
            try await runCommand(
                ["cc", "-shared", "-fPIC", "-o", object, Repository.path("Fixtures/clock/jumping.c")], mustSucceed: true)
            environment = ["LD_PRELOAD": object, "CLOCK_JUMPS_BY": folder.file("offset")]
            set(to: 0)
        }

        /// In place: the programs have the file mapped.
        func set(to seconds: Int64) {
            let path = folder.file("offset")
            if !FileManager.default.fileExists(atPath: path) { _ = FileManager.default.createFile(atPath: path, contents: Data(count: 8)) }
            guard let file = FileHandle(forWritingAtPath: path) else {
                Issue.record("no \(path)")
                return
            }
            file.write(withUnsafeBytes(of: seconds.littleEndian) { Data($0) })
        }
    }

    @Test(arguments: [false, true])
    func `by twelve hours forth and back while a session runs, and before it's taken up again`(secure: Bool) async throws {
        let clock = try await Clock()
        #expect(try await date(clock) - Date().timeIntervalSince1970 < 1_000)
        clock.set(to: Clock.halfDay)
        #expect(try await date(clock) - Date().timeIntervalSince1970 > 40_000, "the programs see the jumps")
        clock.set(to: 0)
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let (child, tcp) = try await Loopback.router(
            port: port, ["--mac", HardRouter.mac, "--tcp", "0"] + (secure ? VerifyToolTests.words(company.device, company) : []),
            environment: clock.environment)
        let router = HardRouter(port: port, tcp: tcp, child: child)
        let home = try TemporaryDirectory()
        let trust = secure ? VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity) : []
        func send(_ words: [String]) throws -> ChildProcess {
            try ChildProcess(
                router.tool(["send", HardRouter.mac] + words + ["--json", "--timeout", "300s"] + trust),
                environment: clock.environment.merging(["WIFICTL_HOME": home.path]) { $1 })
        }
        // While it runs.
        let lines = (1...90).map { "line \($0)" }
        let first = try send(["--stdin"])
        first.write(lines: Array(lines[..<30]))
        _ = try await first.line("delivery") { $0.contains("\"type\":\"outcome\"") }
        clock.set(to: Clock.halfDay)
        first.write(lines: Array(lines[30..<60]))
        _ = try await router.child.line("line 60") { $0.contains("\"text\":\"line 60\"") }
        clock.set(to: -Clock.halfDay)
        first.write(lines: Array(lines[60...]))
        first.closeInput()
        let result = try await first.result(within: .seconds(400))
        #expect(result.status == 0, "\(result.errorText)")
        let outcomes = try jsonLines(result, "outcome")
        #expect(outcomes.count == 90 && outcomes.allSatisfy { $0["outcome"] == "delivered" && $0["sends"] == 1 })
        #expect(try jsonLines(result, "session").count { $0["state"] == "connecting" } == 1, "one connection carried it all")
        // Killed with messages under way, and taken up again at another time of day.
        let killed = try send(["--stdin"])
        killed.write(lines: ["after 1", "after 2", "after 3"])
        _ = try await killed.line("acceptance") { $0.contains("\"type\":\"accepted\"") && $0.contains("\"line\":3") }
        killed.signal(SIGKILL)
        _ = try await killed.result()
        for (number, offset) in [Clock.halfDay, -Clock.halfDay, 0].enumerated() {
            clock.set(to: offset)
            let back = try await send(["back \(number)"]).result(within: .seconds(400))
            #expect(back.status == 0, "\(back.text)\(back.errorText)")
            #expect(try jsonLines(back, "session").contains { $0["state"] == "resumed" })
        }
        let taken = try await router.taken()
        #expect(taken == lines + ["after 1", "after 2", "after 3", "back 0", "back 1", "back 2"])
    }

    /// What time it is for a program under the clock, in seconds since 1970.
    private func date(_ clock: Clock) async throws -> Double {
        let result = try await runCommand(["date", "+%s"], environment: clock.environment, mustSucceed: true)
        return try #require(Double(result.lines.first ?? ""))
    }
}
