import FrameCodec
import SocketCore

/// Does scripts to a router and tells what happened.
protocol ConformLink {
    mutating func perform(_ script: [ConformStep], _ subject: ConformSubject) -> ConformTranscript
    /// Whether it was told to end: a script may have been broken off half way.
    var isBrokenOff: Bool { get }
}

/// The link over real sockets. Every step has its deadline, so that no router can hold the tool up.
struct SocketConformLink: ConformLink {
    /// Pause between two rounds over several sockets: what times are exact to.
    private static let grain = Duration.milliseconds(1)

    let target: Endpoint
    /// For connections as ourselves; nil where the router speaks no TLS.
    var ownContext: TLSContext?
    /// For connections without a certificate.
    var strangerContext: TLSContext?
    let cancellation: CancellationSignal

    var isBrokenOff: Bool { cancellation.isRaised }

    mutating func perform(_ script: [ConformStep], _ subject: ConformSubject) -> ConformTranscript {
        let run = Run(link: self, subject: subject)
        for step in script {
            guard !cancellation.isRaised else { break }
            run.perform(step)
        }
        return run.transcript
    }

    /// One script under way; what it opened closes with it.
    private final class Run {
        let link: SocketConformLink
        let subject: ConformSubject
        var transcript = ConformTranscript()
        private var connections: [Int: ConformConnection] = [:]
        private var sockets: [Int: BlockingDatagrams] = [:]
        private var receipted: [Int: Set<UInt32>] = [:]

        init(link: SocketConformLink, subject: ConformSubject) {
            self.link = link
            self.subject = subject
        }

        private var now: Instant { SystemCalls.monotonicNow() }

        private func note(_ number: Int, _ what: ConformTranscript.What) {
            transcript.events.append(ConformTranscript.Event(number: number, at: now, what: what))
        }

        func perform(_ step: ConformStep) {
            switch step {
            case .open(let line, let guise): open(line, guise)
            case .send(let line, let bytes): send(line, bytes)
            case .receiptAll(let line): receiptAll(line)
            case .reopen(let line, let bytes, let limit): reopen(line, bytes, now + limit)
            case .listen(let lines, let until, let limit): listen(lines, until, now + limit)
            case .finishWriting(let line): connections[line]?.finishWriting()
            case .close(let line): connections[line] = nil
            case .pause(let span): pause(span)
            case .probe(let socket, let bytes): probe(socket, bytes)
            case .gather(let sockets, let count, let limit): gather(sockets, count, now + limit)
            }
        }

        private func pause(_ span: Duration) {
            let end = now + span
            while now < end, !link.cancellation.isRaised { SystemCalls.sleep(min(end - now, .milliseconds(100))) }
        }

        private func open(_ line: Int, _ guise: ConformStep.Guise) {
            let context: TLSContext? =
                switch guise {
                case .operatorsOwn: link.ownContext
                case .stranger: link.strangerContext
                case .plaintext: nil
                }
            do throws(StreamEnd) {
                connections[line] = try ConformConnection(to: link.target, context, within: subject.patience)
                note(line, .opened)
            } catch { note(line, .refused("\(error)")) }
        }

        private func reopen(_ line: Int, _ bytes: [UInt8], _ deadline: Instant) {
            while now < deadline, !link.cancellation.isRaised, transcript.line(line).bytes.isEmpty {
                pause(.milliseconds(500))
                open(line, .operatorsOwn)
                send(line, bytes)
                listen([line], .frames(1), min(deadline, now + subject.patience))
            }
        }

        private func send(_ line: Int, _ bytes: [UInt8]) {
            guard let connection = connections[line], !bytes.isEmpty else { return }
            do throws(StreamEnd) {
                note(line, .sent(bytes))
                try connection.write(bytes, within: subject.patience.scaled(by: 4))
            } catch { end(line, "\(error)") }
        }

        private func end(_ line: Int, _ reason: String) {
            note(line, .ended(reason))
            connections[line] = nil
        }

        /// Receipts for what came since the last time; the bytes go out in one write, as the protocol allows.
        private func receiptAll(_ line: Int) {
            let messages = Set(transcript.line(line).messages(subject.layout).map(\.frame.msgId))
            let due = messages.subtracting(receipted[line, default: []])
            receipted[line, default: []].formUnion(due)
            let bytes = ConformBytes(layout: subject.layout, seed: 0)
            send(line, due.sorted().flatMap { bytes.frame($0) })
        }

        private func listen(_ lines: [Int], _ until: ConformStep.Until, _ deadline: Instant) {
            while now < deadline, !link.cancellation.isRaised {
                if isReached(until, lines) { return }
                let open = lines.filter { connections[$0] != nil }
                guard !open.isEmpty else { return }
                var isQuiet = true
                for line in open where read(line, within: open.count == 1 ? min(deadline - now, .milliseconds(200)) : .zero) {
                    isQuiet = false
                }
                if isQuiet, open.count > 1 { SystemCalls.sleep(SocketConformLink.grain) }
            }
        }

        /// True when something came.
        private func read(_ line: Int, within limit: Duration) -> Bool {
            guard let connection = connections[line] else { return false }
            do throws(StreamEnd) {
                switch try connection.read(within: limit) {
                case .bytes(let bytes): note(line, .received(bytes))
                case .nothing: return false
                case .end: end(line, "it closed the connection")
                }
            } catch { end(line, "\(error)") }
            return true
        }

        private func isReached(_ until: ConformStep.Until, _ lines: [Int]) -> Bool {
            guard let first = lines.first else { return true }
            switch until {
            case .time: return false
            case .frames(let count): return transcript.line(first).frames(subject.layout).frames.count >= count
            case .receipts(let ids): return ids.isSubset(of: transcript.line(first).receipts(subject.layout))
            case .messages(let count): return transcript.line(first).messages(subject.layout).count >= count
            case .answers(let ids): return ids.isSubset(of: transcript.line(first).answered(subject.layout))
            case .ended: return lines.allSatisfy { connections[$0] == nil }
            }
        }

        private func probe(_ number: Int, _ bytes: [UInt8]) {
            do throws(SystemError) {
                let socket = try socket(number)
                note(number, .probed(bytes))
                try socket.send(bytes, to: subject.discoveryEndpoint)
            } catch { note(number, .refused("\(error)")) }
        }

        private func socket(_ number: Int) throws(SystemError) -> BlockingDatagrams {
            if let socket = sockets[number] { return socket }
            let socket = try BlockingDatagrams(towards: subject.discoveryEndpoint.address)
            sockets[number] = socket
            return socket
        }

        private func gather(_ numbers: [Int], _ count: Int, _ deadline: Instant) {
            var found = 0
            while now < deadline, found < count, !link.cancellation.isRaised {
                let before = found
                for number in numbers {
                    // An error of a socket (an ICMP answer to a probe) means that nothing has come.
                    while let datagram = (try? sockets[number]?.receive(within: .zero)) ?? nil {
                        note(number, .datagram(datagram.bytes, from: datagram.source))
                        found += 1
                    }
                }
                if found == before { SystemCalls.sleep(SocketConformLink.grain) }
            }
        }
    }
}
