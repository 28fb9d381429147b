import SocketCore

/// The probes of one link that may still be answered.
struct NonceBook {
    struct Asked: Equatable {
        var nonce: HexToken
        var msgId: UInt32
        var sentAt: Instant
        /// Probes that left together, on whichever links, have one epoch: "one probe" for the conflict rule.
        var epoch: Int
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
}
