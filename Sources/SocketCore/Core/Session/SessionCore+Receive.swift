import FrameCodec

// MARK: - Frames of the peer

extension SessionCore {
    /// Bytes have arrived, of whatever frame: the connection lives, even while a large frame is under way.
    @inline(__always)
    public mutating func receivedBytes(_ byteCount: Int, on number: ConnectionNumber, now: Instant) {
        if number == connection, byteCount > 0 { lastReceived = now }
    }

    /// A frame has arrived.
    ///
    /// - Returns: `FrameDecoder.Flow.stop` when the connection is over, or when reading must pause until ``wantsToRead`` is
    ///   true again; this frame has been dealt with either way.
    public mutating func receive(
        _ header: FrameHeader, body: RawSpan, on number: ConnectionNumber, now: Instant
    ) -> FrameDecoder.Flow {
        guard number == connection || (mutated(.acceptStaleNews) && connection != .none) else { return .stop }
        lastReceived = now
        if phase == .greeting {
            receiveHello(header, body, now)
        } else if phase == .open {
            receiveOpen(header, body, now)
        }
        return number == connection && isReading ? .more : .stop
    }

    @inline(__always)
    private mutating func receiveOpen(_ header: FrameHeader, _ body: RawSpan, _ now: Instant) {
        guard !configuration.isPlain else { return deliver(header, body, receiptDue: false, now) }
        guard header.version == version else {
            return fail(.wrongVersion(found: header.version, agreed: version), abort: true, now)
        }
        if isUnconfirmed {
            isUnconfirmed = false
            pump(now)
        }
        if header.bodyLength == 0 {
            if header.msgId == 0 { counters.heartbeatsReceived += 1 } else { receiveReceipt(header.msgId, now) }
        } else if header.msgId == 0 {
            deliver(header, body, receiptDue: false, now)
        } else {
            receiveMessage(header, body, now)
        }
    }

    private mutating func receiveReceipt(_ msgId: UInt32, _ now: Instant) {
        if mutated(.receiptForReceipt) { writeReceipt(msgId) }
        if let message = ledger.settle(msgId, now: now) ?? outbox.removeRestored(msgId: msgId) {
            finish(message, .delivered, now)
            pump(now)
            continueClosing(now)
        } else {
            counters.strayReceipts += 1
        }
    }

    private mutating func receiveMessage(_ header: FrameHeader, _ body: RawSpan, _ now: Instant) {
        let verdict = mutated(.deliverDuplicates) ? .new : inbound.verdict(header.msgId)
        switch verdict {
        case .new:
            inbound.insert(header.msgId)
            if mutated(.receiptBeforeHandOver) { writeReceipt(header.msgId) }
            deliver(header, body, receiptDue: true, now)
        case .known:
            counters.duplicates += 1
            if !mutated(.noReceiptForDuplicates) { writeReceipt(header.msgId) }
        case .pending:
            counters.duplicates += 1
            if mutated(.deliverPendingAgain) { deliver(header, body, receiptDue: true, now) }
        }
    }

    /// Hands a message on. Its body is copied behind the others of the batch, so that an allocation is paid once a batch.
    @inline(__always)
    private mutating func deliver(_ header: FrameHeader, _ body: RawSpan, receiptDue: Bool, _ now: Instant) {
        let sequence = nextSequence
        nextSequence += 1
        if bodies.isEmpty { bodies.reserveCapacity(max(body.byteCount, bodiesReserve)) }
        let start = bodies.count
        body.withUnsafeBytes { bodies.append(contentsOf: $0) }
        emit(
            .message(
                DeliveredMessage(
                    sequence: sequence, msgId: header.msgId, version: header.version, start: UInt32(truncatingIfNeeded: start),
                    count: UInt32(truncatingIfNeeded: body.byteCount))))
        let cost = body.byteCount + SessionLimits.entryCost
        unhandedBytes += cost
        unhanded.append(UnhandedMessage(sequence: sequence, msgId: receiptDue ? header.msgId : 0, bytes: cost))
        updateReading(now)
    }

    /// The application has taken all messages up to that sequence: now, and not before, they're receipted.
    public mutating func handedOver(through sequence: UInt64, now: Instant) {
        while !unhanded.isEmpty, unhanded[0].sequence <= sequence {
            guard let message = unhanded.popFirst() else { break }
            unhandedBytes -= message.bytes
            guard message.msgId != 0 else { continue }
            inbound.take(message.msgId)
            if !mutated(.forgetTaken) { journal?.took(message.msgId) }
            writeReceipt(message.msgId)
        }
        updateReading(now)
        continueClosing(now)
    }

    /// A receipt goes into the output at once: those of one hand-over leave in one write. Without a connection the next
    /// hello, or the peer's next copy, makes up for it.
    private mutating func writeReceipt(_ msgId: UInt32) {
        guard phase == .open, !writingShut else { return }
        output.append(encoder, msgId: msgId, version: version, body: RawSpan())
    }

    /// Whether the application takes messages; no stops the reading and with it, in time, the peer.
    public mutating func setReading(_ reads: Bool, now: Instant) {
        applicationReads = reads
        updateReading(now)
    }

    /// Stops reading above the bounds and goes on at half.
    @inline(__always)
    mutating func updateReading(_ now: Instant) {
        if isReading {
            isReading =
                applicationReads && unhanded.count < SessionLimits.inboundMessages && unhandedBytes < SessionLimits.inboundBytes
                && output.count < SessionLimits.outputStop
        } else if applicationReads, unhanded.count <= SessionLimits.inboundMessages / 2,
            unhandedBytes <= SessionLimits.inboundBytes / 2, output.count <= SessionLimits.outputStop / 2
        {
            isReading = true
            // What the peer said meanwhile lies unread: it isn't silent, and receipts aren't overdue, before it was heard.
            lastReceived = now
            ledger.postpone(to: now + configuration.timing.hearing)
        }
    }
}
