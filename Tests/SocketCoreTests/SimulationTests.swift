import SessionSimulation
import SocketCore
import Testing

@Suite("simulation")
struct SimulationTests {
    /// Fixed seeds, so that a red test is red for the one who looks into it; `make simulate` runs new ones.
    @Test("all invariants hold over seeds", arguments: 0..<8)
    func seeds(block: UInt64) {
        for seed in block * 25..<block * 25 + 25 {
            if let failure = SimWorld.run(seed: seed).failure {
                Issue.record("\(failure)")
                return
            }
        }
    }

    #if DEBUG
        /// A simulator that finds nothing proves nothing: each of these faults, built into the core, must be found.
        @Test("a mutated core is caught", arguments: Mutant.all)
        func mutants(mutant: Mutant) {
            for seed in 0..<mutant.seeds {
                let outcome = SimWorld.run(seed: seed, mutations: mutant.mutations, journalAfterWrite: mutant.journalAfterWrite)
                if outcome.failure != nil { return }
            }
            Issue.record("\(mutant) wasn't caught by \(mutant.seeds) seeds")
        }
    #endif
}

#if DEBUG
    struct Mutant: Sendable, CustomStringConvertible, CustomTestStringConvertible {
        var description: String
        var mutations: SessionMutation = []
        var journalAfterWrite = false
        var seeds: UInt64 = 300
        var testDescription: String { description }

        static let all: [Mutant] = [
            Mutant(description: "receipt before hand-over", mutations: .receiptBeforeHandOver),
            Mutant(description: "ids begin anew after a reconnect", mutations: .reuseIds),
            Mutant(description: "duplicates aren't receipted again", mutations: .noReceiptForDuplicates),
            Mutant(description: "a reconnect forgets the outbox", mutations: .forgetOutbox),
            Mutant(description: "the journal is written after the socket", journalAfterWrite: true),
            Mutant(description: "the window isn't looked at", mutations: .ignoreWindow),
            Mutant(description: "a duplicate is delivered while the first waits for hand-over", mutations: .deliverPendingAgain),
            Mutant(description: "duplicates are delivered", mutations: .deliverDuplicates),
            Mutant(description: "the router's ids outlive its memory", mutations: .keepWindowAfterReboot),
            Mutant(description: "new messages overtake unsettled ones", mutations: .newBeforeOld),
            Mutant(description: "own writes count as the peer's life", mutations: .ownWritesAreLife),
            Mutant(description: "a loss of memory is told only once", mutations: .resumeUnconfirmed, seeds: 3_000),
            Mutant(description: "receipts are receipted", mutations: .receiptForReceipt),
            Mutant(description: "what was taken isn't journalled", mutations: .forgetTaken),
            Mutant(description: "the hello claims more than was taken", mutations: .claimTooMuch),
            Mutant(description: "overdue messages aren't resent", mutations: .noResend),
            Mutant(description: "no heartbeats", mutations: .noHeartbeat),
            Mutant(description: "an outcome is told twice", mutations: .doubleOutcome),
        ]
    }
#endif
