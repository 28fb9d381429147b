import SocketCore

/// The probes of one link that may still be answered.
struct NonceBook {
    struct Asked: Equatable {
        var nonce: HexToken
        var msgId: UInt32
        var sentAt: Instant
        /// Whether the answer was asked for at once, so that its time is the way's.
        var isPrompt = false
        /// Probes that left together, on whichever links, have one epoch: "one probe" for the conflict rule.
        var epoch: Int
        /// Whom alone it was sent to: nobody else on a switched or encrypted network has heard the nonce. nil for a probe to many.
        var place: DiscoveredRouter.Place?
        /// Answers that still count for more than a claim, where it was sent to one place.
        var answersLeft = DiscoveryBounds.directAnswers
    }

    private var asked: [Asked] = []

    mutating func remember(_ new: Asked) {
        asked.removeAll { new.sentAt - $0.sentAt > DiscoveryBounds.nonceLifetime }
        if asked.count == DiscoveryBounds.noncesPerLink { asked.removeFirst() }
        asked.append(new)
    }

    func find(_ nonce: HexToken, msgId: UInt32, now: Instant) -> Asked? {
        asked.last { $0.nonce == nonce && $0.msgId == msgId && now - $0.sentAt <= DiscoveryBounds.nonceLifetime }
    }

    /// Counts an answer to a probe that went to one place, from there; false when it's one too many, or the probe went to many.
    mutating func takeDirectAnswer(_ nonce: HexToken, from source: IPAddress) -> Bool {
        guard let index = asked.lastIndex(where: { $0.nonce == nonce }), asked[index].place?.address.unscoped == source.unscoped,
            asked[index].answersLeft > 0
        else { return false }
        asked[index].answersLeft -= 1
        return true
    }
}
