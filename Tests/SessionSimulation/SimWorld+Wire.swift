import FrameCodec
import SocketCore

// MARK: - What must hold of bounds, of the wire, and of time

extension SimWorld {
    /// Memory, as far as a session's own lists go; beside them are fixed sizes alone.
    func checkBounds(_ endpoint: SimEndpoint) {
        let core = endpoint.core.configuration
        let largestBody = 20_000 + SessionLimits.entryCost
        if endpoint.core.unsettledMessages > plan.window {
            fail("\(endpoint.name) has \(endpoint.core.unsettledMessages) unsettled messages, window \(plan.window)")
        }
        if endpoint.core.pendingMessages > plan.outboxMessages { fail("\(endpoint.name)'s outbox is over its bound") }
        if endpoint.core.outputByteCount > 3 << 20 { fail("\(endpoint.name) has \(endpoint.core.outputByteCount) bytes of output") }
        if endpoint.core.unhandedMessages > SessionLimits.inboundMessages {
            fail("\(endpoint.name) holds \(endpoint.core.unhandedMessages) messages")
        }
        let kept = endpoint.core.kept
        if kept.outboxBytes > max(core.outboxBytes, largestBody) { fail("\(endpoint.name)'s outbox has \(kept.outboxBytes) bytes") }
        if kept.unhandedBytes > 2 << 20 + largestBody { fail("\(endpoint.name) holds \(kept.unhandedBytes) bytes of messages") }
        if kept.events > 8_192 { fail("\(endpoint.name) has \(kept.events) events at once") }
        if let disk = endpoint.disk, disk.bytes.count > 5 * max(kept.outboxBytes, 1 << 18) {
            fail("\(endpoint.name)'s journal has \(disk.bytes.count) bytes for \(kept.outboxBytes) bytes of messages")
        }
    }

    /// A server that can't be reached, or that hangs up at once, isn't hammered.
    func checkDials(_ endpoint: SimEndpoint) {
        endpoint.dials.removeAll { $0 <= now - 60_000_000_000 }
        endpoint.dials.append(now)
        if endpoint.dials.count > 8 { fail("\(endpoint.name) dials for the \(endpoint.dials.count)th time within a minute") }
    }

    /// A connection that stood for long starts the count of dials over.
    func noteStability(_ endpoint: SimEndpoint, _ state: SessionState) {
        let time = clock(endpoint).nanoseconds
        switch state {
        case .open, .resumed: endpoint.openedAt = time
        case .lost:
            let stability = endpoint.core.configuration.timing.reconnect.stability.inNanoseconds
            if endpoint.openedAt <= time - stability { endpoint.dials = [] }
            endpoint.openedAt = .max
        default: break
        }
    }

    /// A peer that has receipted nothing yet is slow, or hears nothing: one question at a time, no window of copies.
    func checkResends(_ endpoint: SimEndpoint, since before: UInt64) {
        guard let link = endpoint.link, !link.isMeddled, link.receiptsRead[endpoint.side.rawValue] == 0 else { return }
        let copies = endpoint.core.counters.resends - before
        if copies > 1 { fail("\(endpoint.name) sends \(copies) copies at once to a peer that is only slow") }
    }

    /// Looks at what a side writes, frame by frame.
    func checkWire(_ bytes: [UInt8], _ link: SimLink, from endpoint: SimEndpoint, _ pass: (Frame, _ isFirst: Bool) -> Void) {
        var frames: [Frame] = []
        func take(_ header: FrameHeader, _ body: RawSpan) -> FrameDecoder.Flow {
            frames.append(Frame(header, body))
            return .more
        }
        do throws(FrameError) {
            if endpoint.side == .controller {
                try link.controllerWire.decode(bytes.span.bytes, take)
            } else {
                try link.routerWire.decode(bytes.span.bytes, take)
            }
        } catch {
            fail("\(endpoint.name) writes what is no frame: \(error)")
        }
        let side = endpoint.side.rawValue
        let time = clock(endpoint).nanoseconds
        for frame in frames {
            let isFirst = link.framesWritten[side] == 0 && !link.isPlain
            if let agreed = link.agreed, frame.version != agreed, !(isFirst && endpoint.side == .controller) {
                fail("\(endpoint.name) writes version \(frame.version) where \(agreed) was agreed")
            }
            if !isFirst { check(frame, link, from: endpoint) }
            link.framesWritten[side] += 1
            link.wroteAt[side] = time
            pass(frame, isFirst)
        }
    }

    private func check(_ frame: Frame, _ link: SimLink, from endpoint: SimEndpoint) {
        if frame.body.isEmpty, link.isPlain { fail("\(endpoint.name) sends a heartbeat or receipt to a plain device") }
        guard frame.msgId != 0 else {
            if frame.body.isEmpty { checkHeartbeat(link, from: endpoint) }
            return
        }
        let far = link.endpoint(endpoint.side.other)
        guard frame.body.isEmpty else {
            let number = SimWorld.number(frame.body)
            if endpoint.byId[frame.msgId] != number {
                fail("\(endpoint.name): id \(frame.msgId) carries \(number ?? -1), before \(endpoint.byId[frame.msgId] ?? -1)")
            }
            // As many receipts may come as copies could arrive, a fault's doubles included.
            far?.owed[frame.msgId, default: 0] += link.pipes[endpoint.side.other.rawValue].doubleMessages > 0 ? 3 : 1
            return
        }
        guard endpoint.takenIds.contains(frame.msgId) else {
            return fail("\(endpoint.name) receipts \(frame.msgId), which its application hasn't taken")
        }
        endpoint.owed[frame.msgId, default: 0] -= 1
        if endpoint.owed[frame.msgId, default: 0] < 0 { fail("\(endpoint.name) receipts \(frame.msgId) more often than it came") }
    }

    /// One heartbeat after each span of silence, however long its process slept. A controller that learns of a lost memory answers the
    /// hello with one at once.
    private func checkHeartbeat(_ link: SimLink, from endpoint: SimEndpoint) {
        let side = endpoint.side.rawValue
        guard !(endpoint.side == .controller && link.framesWritten[side] == 1) else { return }
        let silence = clock(endpoint).nanoseconds - link.wroteAt[side]
        if silence < endpoint.core.configuration.timing.heartbeat.inNanoseconds {
            fail("\(endpoint.name) sends a heartbeat after \(silence / 1_000_000) ms")
        }
    }
}
