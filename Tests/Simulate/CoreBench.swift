import FrameCodec
import Glibc
import SocketCore

/// What a message costs in a core, without any system call, in batches of frames of 26 bytes: a router's takes and receipts them, a
/// controller's sends them and hears their receipts.
enum CoreBench {
    static func run() {
        for batch in [1, 64] {
            let samples = (0..<7).map { _ in sample(batch: batch) }.sorted()
            print("router's core, \(batch) a read: \(samples[3]) ns a message (best \(samples[0]), worst \(samples[6]))")
            let others = (0..<7).map { _ in sendingSample(batch: batch) }.sorted()
            print("controller's core, \(batch) a read: \(others[3]) ns a message (best \(others[0]), worst \(others[6]))")
        }
        print("a core's own size: \(MemoryLayout<SessionCore>.size) bytes")
    }

    private static func cpuNanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    private static func sendingSample(batch: Int) -> Int {
        let rounds = 200_000 / batch
        var configuration = SessionConfiguration(role: .controller)
        configuration.window = 64
        let session = SessionIdentifier(high: 1, low: 2)
        var core = SessionCore(configuration, session: session, seed: 1, now: .zero)
        core.start(now: .zero)
        let number = core.connection
        core.connected(number, now: .zero)
        core.wrote(core.outputByteCount, on: number, now: .zero)
        let identity = RouterIdentity(boot: "00000000000000b0", mac: "02:00:5e:00:53:01")
        let hello = RouterHello(session: session, identity: identity, version: 1, received: 0, resumed: false).encoded()
        _ = core.receive(FrameHeader(msgId: 0, version: 1, bodyLength: hello.count), body: hello.span.bytes, on: number, now: .zero)
        _ = core.takeEvents()
        let body = [UInt8](repeating: 7, count: 16)
        var decoder = FrameDecoder()
        var input = [UInt8](repeating: 0, count: 10 * batch)
        for index in 0..<batch { input[10 * index + 5] = 1 }
        var settled = 0
        let start = cpuNanoseconds()
        for _ in 0..<rounds {
            for index in 0..<batch {
                let id: UInt32
                do throws(SessionError) { id = try core.send(body, now: .zero).msgId } catch { preconditionFailure("\(error)") }
                for place in 0..<4 { input[10 * index + place] = UInt8(truncatingIfNeeded: id >> UInt32(8 * (3 - place))) }
            }
            core.wrote(core.outputByteCount, on: number, now: .zero)
            core.receivedBytes(input.count, on: number, now: .zero)
            do throws(FrameError) {
                try decoder.decode(input.span.bytes) { core.receive($0, body: $1, on: number, now: .zero) }
            } catch { preconditionFailure("\(error)") }
            for event in core.takeEvents() { if case .outcome = event { settled += 1 } }
        }
        let elapsed = cpuNanoseconds() - start
        precondition(settled == rounds * batch, "each message was settled")
        return elapsed / (rounds * batch)
    }

    private static func sample(batch: Int) -> Int {
        let rounds = 200_000 / batch
        var configuration = SessionConfiguration(role: .router)
        configuration.window = 64
        let session = SessionIdentifier(high: 1, low: 2)
        var core = SessionCore(configuration, session: session, seed: 1, now: .zero)
        let number = core.accept(ControllerHello(session: session, versions: [1], received: 0, resume: false), version: 1, now: .zero)
        core.wrote(core.outputByteCount, on: number, now: .zero)
        var decoder = FrameDecoder()
        var input = [UInt8](repeating: 7, count: 26 * batch)
        for index in 0..<batch {
            for (offset, byte) in [0, 0, 0, 0, 0, 1, 0, 0, 0, 16].enumerated() { input[26 * index + offset] = UInt8(byte) }
        }
        var id: UInt32 = 0
        var received = 0
        let start = cpuNanoseconds()
        for _ in 0..<rounds {
            for index in 0..<batch {
                id += 1
                for place in 0..<4 { input[26 * index + place] = UInt8(truncatingIfNeeded: id >> UInt32(8 * (3 - place))) }
            }
            core.receivedBytes(input.count, on: number, now: .zero)
            do throws(FrameError) {
                try decoder.decode(input.span.bytes) { core.receive($0, body: $1, on: number, now: .zero) }
            } catch { preconditionFailure("\(error)") }
            var last: UInt64 = 0
            for event in core.takeEvents() { if case .message(let message) = event { last = message.sequence } }
            core.handedOver(through: last, now: .zero)
            received += core.outputByteCount
            core.wrote(core.outputByteCount, on: number, now: .zero)
        }
        let elapsed = cpuNanoseconds() - start
        precondition(received == rounds * batch * 10, "each message got its receipt")
        return elapsed / (rounds * batch)
    }
}
