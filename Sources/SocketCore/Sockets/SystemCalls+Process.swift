import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// What the library asks of the machine, and measurements of the process and its threads.
extension SystemCalls {
    /// Cores a mask can name: the kernel's own bound on common builds.
    private static let largestCoreCount = 1_024

    private static var maskWords: Int { largestCoreCount / UInt.bitWidth }

    /// The cores that the calling thread may run on, ascending; empty when the kernel doesn't say.
    public static func allowedCores() -> [Int] {
        #if canImport(CLinux)
            var mask = [UInt](repeating: 0, count: maskWords)
            guard sched_getaffinity(0, maskWords * MemoryLayout<UInt>.size, &mask) == 0 else { return [] }
            return (0..<largestCoreCount).filter { mask[$0 / UInt.bitWidth] >> UInt($0 % UInt.bitWidth) & 1 != 0 }
        #else
            return []
        #endif
    }

    /// What tells this run of the machine from all others: another one after each start; nil where the system doesn't say.
    public static func bootIdentifier() -> String? {
        #if canImport(CLinux)
            let descriptor = Glibc.open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return nil }
            defer { Glibc.close(descriptor) }
            var text = [UInt8](repeating: 0, count: 64)
            let count = uninterrupted { Glibc.read(descriptor, &text, text.count) }
            let digits = text.prefix(max(0, count)).prefix { $0 > UInt8(ascii: " ") }
            return digits.isEmpty ? nil : String(decoding: digits, as: UTF8.self)
        #else
            return nil
        #endif
    }

    /// Keeps the calling thread on one core.
    ///
    /// - Returns: false when that core isn't to be had; the scheduler goes on choosing then.
    @discardableResult
    public static func pinThread(to core: Int) -> Bool {
        #if canImport(CLinux)
            guard (0..<largestCoreCount).contains(core) else { return false }
            var mask = [UInt](repeating: 0, count: maskWords)
            mask[core / UInt.bitWidth] = 1 << UInt(core % UInt.bitWidth)
            return sched_setaffinity(0, maskWords * MemoryLayout<UInt>.size, mask) == 0
        #else
            return false
        #endif
    }

    /// Bytes that the allocator has given out and not got back, its own headers included; 0 where it doesn't say.
    public static func allocatedByteCount() -> Int {
        #if canImport(CLinux)
            let facts = mallinfo2()
            return Int(facts.uordblks) + Int(facts.hblkhd)
        #else
            return 0
        #endif
    }
}
