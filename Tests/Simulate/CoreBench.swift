import FrameCodec
import Glibc
import SocketCore

/// What a message costs in a router's core: frames of 26 bytes in batches, handed over and receipted, without any system call.
enum CoreBench {
    static func run() {
        for batch in [1, 64] {
            let samples = (0..<7).map { _ in sample(batch: batch) }.sorted()
            print("core, \(batch) a read: \(samples[3]) ns a message (best \(samples[0]), worst \(samples[6]))")
        }
        print("a core's own size: \(MemoryLayout<SessionCore>.size) bytes")
    }

    private static func cpuNanoseconds() -> Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
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
