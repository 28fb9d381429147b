extension ConformRule {
    /// All rules in the order of the page and of the report.
    static let all = frames + opening + receipts + resuming + time + discovery + trust + vocabulary

    static let frameCuts = ConformRule("frame-cuts", 1, "Frames come out the same however the stream is cut.")
    static let frameVersion = ConformRule("frame-version", 1, "A version that it doesn't speak ends the connection, 0 always.")
    static let frameLength = ConformRule(
        "frame-length", 1, "A length that can't be right ends the connection at the header's tenth byte.")
    static let frameNothingAfter = ConformRule("frame-nothing-after", 1, "Nothing behind a bad header is delivered.")
    static let frameLimit = ConformRule("frame-limit", 1, "A body of exactly the limit is taken.")
    static let frameEnd = ConformRule("frame-end", 1, "A frame that the end of the stream cuts off isn't delivered.")
    static let frameClaims = ConformRule("frame-claims", 1, "Lengths that are only declared cost no memory: others go on being served.")

    static let frames = [frameCuts, frameVersion, frameLength, frameNothingAfter, frameLimit, frameEnd, frameClaims]

    static let helloAnswer = ConformRule("hello-answer", 3, "A hello is answered by a hello with all required keys.")
    static let helloIdentity = ConformRule("hello-identity", 3, "MAC and boot are the same in hello and reply.")
    static let helloUnknownKeys = ConformRule("hello-unknown-keys", 3, "Unknown keys of a hello are ignored.")
    static let helloKeys = ConformRule("hello-keys", 3, "A hello with a required key missing or ill-typed ends the connection.")
    static let helloSize = ConformRule("hello-size", 3, "A hello of more than 4,096 bytes ends the connection.")
    static let helloFirst = ConformRule("hello-first", 3, "Any other first frame ends the connection.")
    static let helloTimeout = ConformRule("hello-timeout", 3, "Without a hello the connection is closed after 5 s.", .waited)
    static let versionChoice = ConformRule("version-choice", 3, "The highest version in common is chosen, and all frames carry it.")
    static let versionNone = ConformRule("version-none", 3, "Without a version in common: the error object, and closed.")

    static let opening = [
        helloAnswer, helloIdentity, helloUnknownKeys, helloKeys, helloSize, helloFirst, helloTimeout, versionChoice, versionNone,
    ]

    static let receipt = ConformRule("receipt", 2, "Every message with an id gets its receipt.")
    static let receiptPrompt = ConformRule("receipt-prompt", 2, "A receipt leaves within 100 ms.")
    static let receiptNone = ConformRule("receipt-none", 2, "Messages without id, heartbeats and receipts get no receipt.")
    static let receiptUnknown = ConformRule("receipt-unknown", 2, "A receipt for an id that isn't waiting is ignored.")
    static let receiptMeaning = ConformRule(
        "receipt-meaning", 2, "A receipt leaves only once the application has the message.", .byHand)
    static let duplicateReceipt = ConformRule("duplicate-receipt", 2, "A repeated message gets its receipt again.")
    static let duplicateDelivery = ConformRule("duplicate-delivery", 2, "A repeated message isn't delivered again.")
    static let duplicateMemory = ConformRule("duplicate-memory", 2, "The last 1,024 ids of a session are remembered.")
    static let messageIds = ConformRule("message-ids", 2, "Its own messages are numbered 1, 2, 3, …")
    static let window = ConformRule("window", 2, "At most 32 of its own messages wait for receipts; the rest follow as receipts come.")

    static let receipts = [
        receipt, receiptPrompt, receiptNone, receiptUnknown, receiptMeaning, duplicateReceipt, duplicateDelivery, duplicateMemory,
        messageIds, window,
    ]

    static let sessionNew = ConformRule("session-new", 3, "A new session begins with received 0 and isn't called resumed.")
    static let sessionUnknown = ConformRule("session-unknown", 3, "A session that it doesn't have isn't called resumed.")
    static let resume = ConformRule("resume", 3, "A session outlives its connection: resumed, with the right received.")
    static let resumeDuplicate = ConformRule("resume-duplicate", 3, "Ids are remembered over a reconnect.")
    static let resumeResend = ConformRule(
        "resume-resend", 3, "After a reconnect, its unsettled messages come at once, same ids, same bytes, in order.")
    static let resumeReceived = ConformRule("resume-received", 3, "What the controller's received covers is settled and not sent again.")
    static let replaced = ConformRule("replaced", 3, "A second connection of a session closes the first.")
    static let reboot = ConformRule(
        "reboot", 3, "After a reboot, boot is another, and old sessions aren't called resumed.", .onRequest("--reboot"))

    static let resuming = [sessionNew, sessionUnknown, resume, resumeDuplicate, resumeResend, resumeReceived, replaced, reboot]

    static let resend = ConformRule("resend", 2, "A message without receipt is sent again after 5 to 7.5 s, same id, same bytes.", .waited)
    static let heartbeat = ConformRule("heartbeat", 2, "After 15 s without having sent, it sends a heartbeat.", .waited)
    static let deadPeer = ConformRule("dead-peer", 2, "After 30 s without a byte from the other side, it closes.", .waited)
    static let alive = ConformRule("alive", 2, "The other side's heartbeats keep a connection open.", .waited)

    static let time = [resend, heartbeat, deadPeer, alive]
}
