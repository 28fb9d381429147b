/// Faults that tests build into a core to prove that the simulator finds them. Release builds have none of this.
package struct SessionMutation: OptionSet, Sendable {
    package let rawValue: UInt32
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The receipt goes before the application has taken the message.
    package static let receiptBeforeHandOver = SessionMutation(rawValue: 1 << 0)
    /// After each reconnect ids begin anew.
    package static let reuseIds = SessionMutation(rawValue: 1 << 1)
    /// A duplicate isn't receipted again.
    package static let noReceiptForDuplicates = SessionMutation(rawValue: 1 << 2)
    /// A lost connection empties outbox and ledger.
    package static let forgetOutbox = SessionMutation(rawValue: 1 << 3)
    /// The window isn't looked at.
    package static let ignoreWindow = SessionMutation(rawValue: 1 << 4)
    /// A duplicate of a message that waits for hand-over is delivered.
    package static let deliverPendingAgain = SessionMutation(rawValue: 1 << 5)
    /// Nothing is recognised as a duplicate.
    package static let deliverDuplicates = SessionMutation(rawValue: 1 << 6)
    /// The memory of the router's ids survives the router's reboot.
    package static let keepWindowAfterReboot = SessionMutation(rawValue: 1 << 7)
    /// After a reconnect new messages go before unsettled ones.
    package static let newBeforeOld = SessionMutation(rawValue: 1 << 8)
    /// Own writes count as life of the peer.
    package static let ownWritesAreLife = SessionMutation(rawValue: 1 << 9)
    /// News of earlier connections are taken for the current one's.
    package static let acceptStaleNews = SessionMutation(rawValue: 1 << 10)
    /// A router says "resumed" though the controller may not know of the loss before.
    package static let resumeUnconfirmed = SessionMutation(rawValue: 1 << 11)
    /// Receipts are receipted.
    package static let receiptForReceipt = SessionMutation(rawValue: 1 << 12)
    /// What was taken isn't written down.
    package static let forgetTaken = SessionMutation(rawValue: 1 << 13)
    /// The hello's `received` names the latest id sent, not the peer's.
    package static let claimTooMuch = SessionMutation(rawValue: 1 << 14)
    /// Overdue messages aren't sent again.
    package static let noResend = SessionMutation(rawValue: 1 << 15)
    /// Heartbeats are forgotten.
    package static let noHeartbeat = SessionMutation(rawValue: 1 << 16)
    /// A silent connection is never taken for dead.
    package static let noSilence = SessionMutation(rawValue: 1 << 17)
    /// An outcome is reported twice.
    package static let doubleOutcome = SessionMutation(rawValue: 1 << 18)
    /// One late receipt makes all unsettled messages go again.
    package static let resendAll = SessionMutation(rawValue: 1 << 19)
    /// Heartbeats that were missed are made up for.
    package static let heartbeatBurst = SessionMutation(rawValue: 1 << 20)
    /// The outbox takes whatever it's given.
    package static let unboundedOutbox = SessionMutation(rawValue: 1 << 21)
    /// An application that doesn't take doesn't stop the reading.
    package static let neverStopReading = SessionMutation(rawValue: 1 << 22)
    /// Frames are written in the highest version of our own, whatever was agreed.
    package static let ownVersion = SessionMutation(rawValue: 1 << 23)
    /// Messages to a plain device wait for receipts.
    package static let trackPlain = SessionMutation(rawValue: 1 << 24)
    /// What was written is reported as not sent.
    package static let alwaysNotSent = SessionMutation(rawValue: 1 << 25)
    /// Closing doesn't wait for what is still to be sent.
    package static let closeAtOnce = SessionMutation(rawValue: 1 << 26)
    /// Each connection that came about starts the reconnect schedule over.
    package static let noBackoff = SessionMutation(rawValue: 1 << 27)
    /// A receipt settles the oldest message, whichever it names.
    package static let settleOldest = SessionMutation(rawValue: 1 << 28)
    /// A message that was written can still be called back.
    package static let cancelSent = SessionMutation(rawValue: 1 << 29)
}
