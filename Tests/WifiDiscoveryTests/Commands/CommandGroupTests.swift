import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("One command for several routers")
struct CommandGroupTests {
    static let first = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)

    @Test("never more at a time than allowed; one result each, in the order of the names; failures shown", arguments: [1, 3, 8, 100])
    func bounded(parallel: Int) throws {
        var random = SeededGenerator(seed: UInt64(parallel))
        let routers = (0..<20).map { CommandGroupTests.first.advanced(by: $0) }
        var group = CommandGroup(routers + routers, parallel: parallel)
        var running: [MACAddress] = []
        var started: [MACAddress] = []
        while group.outcome == nil {
            let starts = group.takeStarts()
            started += starts
            running += starts
            #expect(running.count <= parallel && running.count == group.runningCount && !running.isEmpty)
            let mac = running.remove(at: Int.random(in: running.indices, using: &random))
            let number = try #require(routers.firstIndex(of: mac))
            group.finished(mac, number % 5 == 0 ? .failure(CommandError.timedOut(tries: 3)) : .success(.integer(Int64(number))))
            // A second result is none.
            group.finished(mac, .success(.null))
        }
        let outcome = try #require(group.outcome)
        #expect(started == routers && outcome.results.map(\.mac) == routers)
        #expect(outcome.failed.map(\.mac) == [0, 5, 10, 15].map { routers[$0] } && outcome.succeeded.count == 16 && !outcome.isWhole)
        #expect("\(outcome)".hasPrefix("16 of 20 routers answered (02:00:5e:00:53:01: the router didn't answer any of 3 tries"))
    }

    @Test("nobody asked is nobody failed")
    func empty() {
        var group = CommandGroup([])
        #expect(group.takeStarts().isEmpty && group.outcome?.results.isEmpty == true && group.outcome?.isWhole == true)
    }
}
