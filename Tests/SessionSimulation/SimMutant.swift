import SocketCore

#if DEBUG
    /// A fault built into a core or its shell, to prove that the simulator bites.
    package struct SimMutant: Sendable, CustomStringConvertible {
        package var description: String
        package var mutations: SessionMutation = []
        package var journalAfterWrite = false
        /// Where to begin, for those that need a rare story.
        package var firstSeed: UInt64 = 0
        package var seeds: UInt64 = 300

        /// The first seed that catches it.
        package func firstCatch() -> UInt64? {
            for seed in firstSeed..<firstSeed + seeds {
                if SimWorld.run(seed: seed, mutations: mutations, journalAfterWrite: journalAfterWrite).failure != nil { return seed }
            }
            return nil
        }

        package static let all: [SimMutant] = [
            SimMutant(description: "receipt before hand-over", mutations: .receiptBeforeHandOver),
            SimMutant(description: "ids begin anew after a reconnect", mutations: .reuseIds),
            SimMutant(description: "duplicates aren't receipted again", mutations: .noReceiptForDuplicates),
            SimMutant(description: "a reconnect forgets the outbox", mutations: .forgetOutbox),
            SimMutant(description: "the journal is written after the socket", journalAfterWrite: true),
            SimMutant(description: "the window isn't looked at", mutations: .ignoreWindow),
            SimMutant(description: "a duplicate is delivered while the first waits for hand-over", mutations: .deliverPendingAgain),
            SimMutant(description: "duplicates are delivered", mutations: .deliverDuplicates),
            SimMutant(description: "the router's ids outlive its memory", mutations: .keepWindowAfterReboot),
            SimMutant(description: "new messages overtake unsettled ones", mutations: .newBeforeOld),
            SimMutant(description: "own writes count as the peer's life", mutations: .ownWritesAreLife),
            SimMutant(description: "a loss of memory is told only once", mutations: .resumeUnconfirmed, firstSeed: 850),
            SimMutant(description: "receipts are receipted", mutations: .receiptForReceipt),
            SimMutant(description: "what was taken isn't journalled", mutations: .forgetTaken),
            SimMutant(description: "the hello claims more than was taken", mutations: .claimTooMuch),
            SimMutant(description: "overdue messages aren't resent", mutations: .noResend),
            SimMutant(description: "no heartbeats", mutations: .noHeartbeat),
            SimMutant(description: "an outcome is told twice", mutations: .doubleOutcome),
        ]
    }
#endif
