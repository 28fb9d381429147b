import FrameCodec
import SocketCore

// MARK: - Connections

extension SimWorld {
    func dial(_ endpoint: SimEndpoint, _ number: ConnectionNumber) {
        let host = endpoint.host
        checkDials(endpoint)
        let delay: ClosedRange<Int64> = 200_000...30_000_000
        guard host.isUp, host.door != .refuses else {
            return schedule(.connect(endpoint, number, succeeds: false), after: delay)
        }
        if host.door == .swallows { return }
        schedule(.connect(endpoint, number, succeeds: true), after: delay)
    }

    func connectEnds(_ endpoint: SimEndpoint, _ number: ConnectionNumber, _ succeeds: Bool) {
        guard endpoint.isAlive, endpoint.core.connection == number else { return }
        guard endpoint.frozenUntil <= now else {
            return schedule(.connect(endpoint, number, succeeds: succeeds), at: endpoint.frozenUntil)
        }
        guard succeeds, endpoint.host.isUp else {
            note("\(endpoint.name) is refused")
            return input(endpoint) { $0.core.connectFailed(number, "refused", now: $1) }
        }
        let link = SimLink(controller: endpoint, number: number, host: endpoint.host)
        links.append(link)
        endpoint.link = link
        if !link.isPlain {
            link.greeting = Greeting(configuration(.router, endpoint.host), now: Instant(nanoseconds: now))
            schedule(.greetingOver(link), at: now + 5_000_000_000)
        }
        if !isCalm {
            if random.chance(0.2) { link.cutAfter = draw(0...3_000) }
            for side in 0...1 {
                guard !link.isPlain else { break }
                if random.chance(0.1) { link.pipes[side].loseReceipts = 0.3 }
                if random.chance(0.1) { link.pipes[side].doubleMessages = 0.3 }
                link.pipes[side].isMeddled = link.pipes[side].loseReceipts > 0 || link.pipes[side].doubleMessages > 0
            }
            if link.host.door == .slams { closeEnd(link, .router, abort: random.chance(0.5)) }
        }
        if link.isPlain, link.holds[SimSide.router.rawValue] { beginPlain(link) }
        input(endpoint) { $0.core.connected(number, now: $1) }
    }

    /// The wire takes bytes.
    func put(_ bytes: [UInt8], _ link: SimLink, from endpoint: SimEndpoint) {
        let far = endpoint.side.other
        var wire: [UInt8] = []
        let pipe = link.pipes[far.rawValue]
        let meddles = pipe.isMeddled
        if pipe.isFinished { fail("\(endpoint.name) writes after it shut its sending half") }
        checkWire(bytes, link, from: endpoint) { frame, isFirst in
            guard meddles else { return }
            if !isFirst, frame.msgId != 0, frame.body.isEmpty, random.chance(pipe.loseReceipts) {
                return note("(receipt \(frame.msgId) is lost)")
            }
            let copies = !isFirst && frame.msgId != 0 && !frame.body.isEmpty && random.chance(pipe.doubleMessages) ? 3 : 1
            for _ in 0..<copies { wire += SimWorld.encoded(frame) }
        }
        guard !link.isCut, !pipe.isBlackHole else { return }
        link.pipes[far.rawValue].bytes += meddles ? wire : bytes
        wantArrival(link, far)
    }

    private static func encoded(_ frame: Frame) -> [UInt8] {
        do { return try FrameEncoder().encode(frame) } catch { preconditionFailure("\(error)") }
    }

    func wantArrival(_ link: SimLink, _ side: SimSide) {
        guard !link.pipes[side.rawValue].arrivalDue else { return }
        link.pipes[side.rawValue].arrivalDue = true
        let latency: Int64 = draw(50_000...2_000_000)
        schedule(.arrive(link, side), at: max(now + latency, link.pipes[side.rawValue].stalledUntil))
    }

    /// Some of what is under way reaches a side.
    func arrive(_ link: SimLink, _ side: SimSide) {
        link.pipes[side.rawValue].arrivalDue = false
        guard !link.isCut, link.holds[side.rawValue] else { return }
        let stall = max(link.pipes[side.rawValue].stalledUntil, link.endpoint(side)?.frozenUntil ?? 0)
        guard stall <= now else {
            link.pipes[side.rawValue].arrivalDue = true
            return schedule(.arrive(link, side), at: stall)
        }
        if let endpoint = link.endpoint(side), endpoint.isAlive, endpoint.link === link, !endpoint.core.wantsToRead { return }
        let waiting = link.pipes[side.rawValue].bytes.count
        guard waiting > 0 else { return tellFinish(link, side) }
        var count = random.chance(0.3) ? draw(1...waiting) : waiting
        if link.arrived + count >= link.cutAfter {
            count = link.cutAfter - link.arrived
            if count == 0 { return cut(link) }
        }
        link.arrived += count
        let piece = Array(link.pipes[side.rawValue].bytes[0..<count])
        link.pipes[side.rawValue].bytes.removeFirst(count)
        let rest = feed(piece, link, side)
        if !rest.isEmpty { link.pipes[side.rawValue].bytes.insert(contentsOf: rest, at: 0) }
        if link.arrived >= link.cutAfter { return cut(link) }
        if !link.pipes[side.rawValue].bytes.isEmpty || link.pipes[side.rawValue].isFinished { wantArrival(link, side) }
        // Room in the pipe: the far end may write on.
        if let sender = link.endpoint(side.other), sender.link === link, sender.isAlive, sender.frozenUntil <= now { tick(sender) }
    }

    /// - Returns: bytes not read.
    private func feed(_ piece: [UInt8], _ link: SimLink, _ side: SimSide) -> [UInt8] {
        if side == .router, link.greeting != nil { return greet(piece, link) }
        guard let endpoint = link.endpoint(side), endpoint.isAlive, endpoint.link === link, let number = link.numbers[side.rawValue] else {
            return []
        }
        let time = clock(endpoint)
        endpoint.core.receivedBytes(piece.count, on: number, now: time)
        var used = piece.count
        func read(_ header: FrameHeader, _ body: RawSpan) -> FrameDecoder.Flow {
            if header.msgId != 0, header.bodyLength == 0 { link.receiptsRead[side.rawValue] += 1 }
            return endpoint.core.receive(header, body: body, on: number, now: time)
        }
        do throws(FrameError) {
            used =
                side == .controller
                ? try link.controllerDecoder.decode(piece.span.bytes, read) : try link.routerDecoder.decode(piece.span.bytes, read)
        } catch {
            fail("\(endpoint.name) got what is no frame: \(error)")
        }
        tick(endpoint)
        return endpoint.link === link ? Array(piece[used...]) : []
    }

    /// A router's process looks at a fresh connection's first frame.
    private func greet(_ piece: [UInt8], _ link: SimLink) -> [UInt8] {
        var step: Greeting.Step?
        var used = piece.count
        do throws(FrameError) {
            used = try link.routerDecoder.decode(piece.span.bytes) { header, body in
                step = link.greeting?.receive(header, body: body)
                return .stop
            }
        } catch {
            fail("a controller's first bytes are no frame: \(error)")
        }
        guard let step else { return [] }
        link.greeting = nil
        guard case .welcome(let hello, let version) = step else {
            refuse(step, link)
            return []
        }
        let common = Set(hello.versions).intersection(link.versions)
        if common.max() != version { fail("version \(version) was chosen where \(common.sorted()) are in common") }
        link.agreed = version
        let endpoint = routerEnd(link.host, hello.session, link.controller)
        note("\(endpoint.name) gets hello received=\(hello.received) resume=\(hello.resume)")
        endpoint.link?.router = nil
        let number = endpoint.core.accept(hello, version: version, now: clock(endpoint))
        // The old connection's close must still find its link.
        for action in endpoint.core.takeActions() {
            if case .close = action, let old = endpoint.link { closeEnd(old, .router, abort: false) }
        }
        link.router = endpoint
        link.numbers[SimSide.router.rawValue] = number
        endpoint.link = link
        tick(endpoint)
        return Array(piece[used...])
    }

    private func routerEnd(_ host: SimRouter, _ session: SessionIdentifier, _ controller: SimEndpoint) -> SimEndpoint {
        if let known = host.sessions[session], !known.core.isClosed { return known }
        let name = "router\(host.index)/\(controller.name)"
        let core = SessionCore(configuration(.router, host), session: session, seed: random.next(), now: Instant(nanoseconds: now))
        let endpoint = adopt(SimEndpoint(name: name, side: .router, host: host, core: core, memory: newMemory()))
        host.sessions[session] = endpoint
        endpoints.append(endpoint)
        return endpoint
    }

    // MARK: - Ends of connections

    /// A side shuts its sending half.
    func finish(_ link: SimLink, _ side: SimSide) {
        link.pipes[side.other.rawValue].isFinished = true
        wantArrival(link, side.other)
    }

    private func tellFinish(_ link: SimLink, _ side: SimSide) {
        guard link.pipes[side.rawValue].isFinished, !link.pipes[side.rawValue].finishTold else { return }
        link.pipes[side.rawValue].finishTold = true
        guard let endpoint = link.endpoint(side), endpoint.link === link, let number = link.numbers[side.rawValue] else { return }
        note("\(endpoint.name) sees the end of the stream")
        input(endpoint) { $0.core.peerFinished(number, now: $1) }
    }

    /// A side closes: what it wrote still arrives, unless it aborts or leaves bytes unread, as TCP has it.
    func closeEnd(_ link: SimLink, _ side: SimSide, abort: Bool) {
        guard link.holds[side.rawValue] else { return }
        link.holds[side.rawValue] = false
        link.greeting = nil
        if abort || !link.pipes[side.rawValue].bytes.isEmpty {
            link.pipes[side.other.rawValue].bytes = []
            if !link.pipes[side.other.rawValue].isBlackHole { schedule(.notify(link, side.other, reset: true), after: 50_000...5_000_000) }
        } else if !link.pipes[side.other.rawValue].isBlackHole {
            finish(link, side)
        }
        link.pipes[side.rawValue].bytes = []
        if !link.holds[0], !link.holds[1] { links.removeAll { $0 === link } }
    }

    /// The link breaks: what is under way is gone; each side hears of it late, or not at all.
    func cut(_ link: SimLink) {
        note("link of \(link.controller.name) is cut")
        link.isCut = true
        for side in [SimSide.controller, .router] {
            link.pipes[side.rawValue].bytes = []
            if link.isPlain || random.chance(0.8) { schedule(.notify(link, side, reset: true), after: 0...2_000_000_000) }
        }
    }

    func tellGone(_ link: SimLink, _ side: SimSide, reset: Bool) {
        guard link.holds[side.rawValue] else { return }
        if let endpoint = link.endpoint(side), endpoint.frozenUntil > now {
            return schedule(.notify(link, side, reset: reset), at: endpoint.frozenUntil)
        }
        link.holds[side.rawValue] = false
        link.greeting = nil
        if !link.holds[0], !link.holds[1] { links.removeAll { $0 === link } }
        guard let endpoint = link.endpoint(side), endpoint.link === link, let number = link.numbers[side.rawValue] else { return }
        endpoint.link = nil
        hauntLater(endpoint, number)
        note("\(endpoint.name) hears that its connection is gone")
        input(endpoint) { $0.core.disconnected(number, .transport("reset by peer"), now: $1) }
    }

    /// An application or the kernel can be read from again, or written to.
    func unblock(_ endpoint: SimEndpoint) {
        guard let link = endpoint.link, endpoint.core.wantsToRead else { return }
        let pipe = link.pipes[endpoint.side.rawValue]
        if !pipe.bytes.isEmpty || (pipe.isFinished && !pipe.finishTold) { wantArrival(link, endpoint.side) }
    }
}
