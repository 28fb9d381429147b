import Glibc

/// What this process holds of the machine's memory.
enum ProcessMemory {
    struct Unreadable: Error, CustomStringConvertible {
        var description: String { "/proc/self/statm can't be read" }
    }

    /// Bytes in the machine's memory now.
    static func residentBytes() throws -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { throw Unreadable() }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, Int32(line.count), file) != nil else { throw Unreadable() }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * Int(getpagesize())
    }
}
