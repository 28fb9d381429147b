import SessionShaking
import Testing

/// The real sessions and the real listener in worlds that a seed decides: over sockets, behind a wire that cuts, stalls and tricks.
@Suite("Shaken sessions", .timeLimit(.minutes(10)))
struct ShakenSessionTests {
    private static let count: UInt64 = 40

    /// New ones at each run, which it tells: `make shake SEED=N` plays one again.
    @Test func `all is true, all ends and nothing is left, whatever the wire and the applications do`() async {
        let first = UInt64.random(in: 1...UInt64.max / 2)
        print("shaken sessions: seeds \(first)...\(first + ShakenSessionTests.count - 1)")
        await shake(first..<first + ShakenSessionTests.count)
    }

    private func shake(_ seeds: Range<UInt64>) async {
        let total = await ShakeWorld.run(seeds: seeds, jobs: 8)
        if let first = total.failures.first { Issue.record("\(first)") }
        #expect(total.failures.map(\.seed) == [])
    }
}
