import SocketCore

/// What a run of `send` came to: its last line, however it ended.
struct SendSummary {
    private let counts: SendRun.Counts
    private let missing: Int
    private let unaccepted: Int?
    private let unfit: Int
    private let obstacle: String?
    private let timeIsUp: Bool
    private let patience: Duration
    /// Whether every body has got where it should.
    let isDelivered: Bool

    /// Ends the run and takes stock of it and of what others had left.
    init(ending run: SendRun, _ leftovers: SendLeftovers, timeIsUp: Bool, patience: Duration) async {
        self.timeIsUp = timeIsUp
        self.patience = patience
        // What can't be kept for the next run has its outcome then.
        await run.end()
        (missing, unaccepted) = (await run.repliesMissing, await run.unaccepted)
        let left = await leftovers.counts
        unfit = await leftovers.unfit
        let whyNotLeft = await leftovers.obstacle
        obstacle = await run.obstacle ?? whyNotLeft
        isDelivered = await run.allDelivered && left.outcomes[.delivered, default: 0] == left.restored && unfit == 0
        var counts = await run.counts
        counts.add(left)
        self.counts = counts
    }

    /// For whoever must know that nothing is lost; nil when nothing is kept.
    private var whatIsKept: String? {
        switch counts.unsettled {
        case 0: nil
        case 1: "1 message is kept for the next send"
        case let count: "\(count) messages are kept for the next send"
        }
    }

    func show(_ output: Output) {
        if output.isJSON { showJSON(output) } else { showText(output) }
        let span = patience.briefText
        let why = obstacle.map { " (\($0))" } ?? ""
        if let whatIsKept { output.warning((timeIsUp ? "no receipt within \(span)\(why): " : "") + whatIsKept) }
        let lost = number(.notSent)
        if lost > 0 { output.warning("not sent\(timeIsUp ? " within \(span)" : "")\(why), and kept nowhere: \(counted(lost, "message"))") }
        if unfit > 0 {
            output.warning(
                "messages of earlier runs in \(counted(unfit, "journal")) don't fit this run's --limit or --layout: settle them with theirs"
            )
        }
        guard timeIsUp else { return }
        if missing > 0 { output.warning("answers that didn't come within \(span): \(missing)") }
        if let unaccepted { output.warning("body \(unaccepted) wasn't accepted within \(span): send it and what follows it again") }
    }

    private func number(_ result: MessageResult) -> Int { counts.outcomes[result, default: 0] }

    private func showText(_ output: Output) {
        let parts = [
            (counts.accepted, "accepted"), (counts.restored, "restored"), (number(.delivered), "delivered"),
            (number(.unknown), "written without receipt"), (number(.notSent), "not sent"), (counts.resends, "resent"),
            (counts.received, "received"),
        ]
        output.remark(parts.filter { $0.0 > 0 || $0.1 == "delivered" }.map { "\($0.0) \($0.1)" }.joined(separator: ", "))
    }

    private func showJSON(_ output: Output) {
        output.json(
            "summary",
            [
                "accepted": .whole(counts.accepted), "restored": .whole(counts.restored), "delivered": .whole(number(.delivered)),
                "notSent": .whole(number(.notSent)), "unknown": .whole(number(.unknown)), "cancelled": .whole(number(.cancelled)),
                "unsettled": .whole(counts.unsettled), "resends": .whole(counts.resends), "received": .whole(counts.received),
                "repliesMissing": .whole(missing), "timedOut": .bool(timeIsUp),
            ])
    }
}
