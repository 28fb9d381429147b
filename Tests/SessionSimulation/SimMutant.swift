import SocketCore

/// Faults built into the simulated shell around the cores; always there, never set but by mutants.
package struct SimShellFaults: OptionSet, Sendable {
    package let rawValue: Int
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The journal is written after the socket.
    package static let journalAfterWrite = SimShellFaults(rawValue: 1 << 0)
    /// What the core wants synced isn't.
    package static let neverSyncs = SimShellFaults(rawValue: 1 << 1)
    /// A torn journal is written on behind its torn end.
    package static let keepsTornTail = SimShellFaults(rawValue: 1 << 2)
    /// After a restart ids begin anew.
    package static let restartsIds = SimShellFaults(rawValue: 1 << 3)
    /// What the journal holds is restored, and queued by the application as well.
    package static let restoresTwice = SimShellFaults(rawValue: 1 << 4)
    /// A journal that nobody waited for is believed after a power cut.
    package static let trustsDisk = SimShellFaults(rawValue: 1 << 5)
}

#if DEBUG
    /// A fault built into a core or its shell, to prove that the simulator bites.
    package struct SimMutant: Sendable, CustomStringConvertible {
        package var description: String
        package var mutations: SessionMutation = []
        package var shellFaults: SimShellFaults = []
        /// Where to begin, for those that need a rare story.
        package var firstSeed: UInt64 = 0
        package var seeds: UInt64 = 300

        /// The first seed that catches it.
        package func firstCatch() -> UInt64? {
            for seed in firstSeed..<firstSeed + seeds {
                if SimWorld.run(seed: seed, mutations: mutations, shellFaults: shellFaults).failure != nil { return seed }
            }
            return nil
        }

        package static let all: [SimMutant] = [
            SimMutant(description: "receipt before hand-over", mutations: .receiptBeforeHandOver),
            SimMutant(description: "ids begin anew after a reconnect", mutations: .reuseIds),
            SimMutant(description: "duplicates aren't receipted again", mutations: .noReceiptForDuplicates),
            SimMutant(description: "a reconnect forgets the outbox", mutations: .forgetOutbox),
            SimMutant(description: "the journal is written after the socket", shellFaults: .journalAfterWrite, firstSeed: 40),
            SimMutant(description: "the window isn't looked at", mutations: .ignoreWindow),
            SimMutant(description: "a duplicate is delivered while the first waits for hand-over", mutations: .deliverPendingAgain),
            SimMutant(description: "duplicates are delivered", mutations: .deliverDuplicates),
            SimMutant(description: "the router's ids outlive its memory", mutations: .keepWindowAfterReboot),
            SimMutant(description: "new messages overtake unsettled ones", mutations: .newBeforeOld),
            SimMutant(description: "own writes count as the peer's life", mutations: .ownWritesAreLife),
            SimMutant(description: "a loss of memory is told only once", mutations: .resumeUnconfirmed, firstSeed: 2_150, seeds: 20_000),
            SimMutant(description: "receipts are receipted", mutations: .receiptForReceipt),
            SimMutant(description: "what was taken isn't journalled", mutations: .forgetTaken),
            SimMutant(description: "the hello claims more than was taken", mutations: .claimTooMuch),
            SimMutant(description: "overdue messages aren't resent", mutations: .noResend, firstSeed: 15),
            SimMutant(description: "no heartbeats", mutations: .noHeartbeat),
            SimMutant(description: "an outcome is told twice", mutations: .doubleOutcome),
            SimMutant(description: "news of an earlier connection counts", mutations: .acceptStaleNews),
            SimMutant(description: "a silent connection is never given up", mutations: .noSilence),
            SimMutant(description: "one late receipt, and the whole window goes again", mutations: .resendAll),
            SimMutant(description: "missed heartbeats are made up for", mutations: .heartbeatBurst),
            SimMutant(description: "the outbox has no bound", mutations: .unboundedOutbox),
            SimMutant(
                description: "an application that doesn't take doesn't stop the reading", mutations: .neverStopReading, firstSeed: 20),
            SimMutant(description: "the agreed version isn't kept to", mutations: .ownVersion),
            SimMutant(description: "messages to plain devices are sent again", mutations: .trackPlain),
            SimMutant(description: "what was written is called not sent", mutations: .alwaysNotSent),
            SimMutant(description: "closing doesn't wait", mutations: .closeAtOnce),
            SimMutant(description: "each connection starts the reconnect schedule over", mutations: .noBackoff, firstSeed: 15),
            SimMutant(description: "a receipt settles the oldest message", mutations: .settleOldest),
            SimMutant(description: "what was written can be called back", mutations: .cancelSent),
            SimMutant(description: "the journal isn't synced", shellFaults: .neverSyncs),
            SimMutant(description: "a torn journal is written on", shellFaults: .keepsTornTail),
            SimMutant(description: "ids begin anew after a restart", shellFaults: .restartsIds),
            SimMutant(description: "what was restored is queued again", shellFaults: .restoresTwice),
            SimMutant(
                description: "a journal that nobody waited for is believed after a power cut", shellFaults: .trustsDisk, firstSeed: 30),
        ]
    }
#endif
