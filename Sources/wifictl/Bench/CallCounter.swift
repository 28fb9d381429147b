import Glibc
import SocketCore

/// Counts calls of the memory allocator and of Swift's reference counting, where the library of Fixtures/bench/count.c was
/// loaded before all others (`LD_PRELOAD`); measuring time can't show that there are none.
struct CallCounter {
    private typealias Read = @convention(c) (Int32) -> UInt64

    private let read: Read

    /// Nil in an ordinary run.
    static let shared: CallCounter? = CallCounter()

    private init?() {
        guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "wifictl_counted_calls") else { return nil }
        read = unsafeBitCast(symbol, to: Read.self)
    }

    /// What much work calls beyond what little work does, so that buffers that are made once don't count a frame.
    func count(_ work: (Int) throws -> UInt64) throws -> [JSONValue.Member] {
        let little = try calls(1, work)
        let much = try calls(20, work)
        return [
            .init("countedFrames", .whole(much.units - little.units)),
            .init("allocations", .whole(Int64(much.allocations) - Int64(little.allocations))),
            .init("referenceCounts", .whole(Int64(much.references) - Int64(little.references))),
            .init("allocationsOnce", .whole(little.allocations)),
        ]
    }

    private func calls(_ rounds: Int, _ work: (Int) throws -> UInt64) throws -> (units: UInt64, allocations: UInt64, references: UInt64) {
        let (allocations, references) = (read(0), read(1))
        let units = try work(rounds)
        return (units, read(0) - allocations, read(1) - references)
    }
}
