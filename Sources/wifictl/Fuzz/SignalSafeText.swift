import Glibc

/// Text put together in a fixed buffer and written with `write` alone: for signal handlers, which may not allocate.
struct SignalSafeText {
    private static let capacity = 4_096

    private let descriptor: Int32
    /// Mapped anew: the crash may have happened inside the allocator.
    private let buffer: UnsafeMutablePointer<UInt8>
    private var count = 0

    /// With a negative descriptor the text only gathers, up to the buffer's size.
    init(descriptor: Int32) {
        self.descriptor = descriptor
        let memory = mmap(nil, SignalSafeText.capacity, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        // Without memory nothing can be reported: end as the crash would have.
        guard let memory, memory != MAP_FAILED else { _exit(ExitStatus.failure.rawValue) }
        buffer = memory.assumingMemoryBound(to: UInt8.self)
    }

    mutating func add(_ text: StaticString) {
        for index in 0..<text.utf8CodeUnitCount { add(byte: text.utf8Start[index]) }
    }

    mutating func add(_ text: UnsafePointer<CChar>) {
        var index = 0
        while text[index] != 0 {
            add(byte: UInt8(bitPattern: text[index]))
            index += 1
        }
    }

    mutating func add(_ number: UInt64) {
        var divisor: UInt64 = 1
        while number / divisor >= 10 { divisor *= 10 }
        while divisor > 0 {
            add(byte: UInt8(truncatingIfNeeded: 0x30 + number / divisor % 10))
            divisor /= 10
        }
    }

    mutating func addHex(_ byte: UInt8) {
        addDigit(byte >> 4)
        addDigit(byte & 15)
    }

    private mutating func addDigit(_ digit: UInt8) { add(byte: digit < 10 ? 0x30 + digit : 0x57 + digit) }

    mutating func endString() { add(byte: 0) }

    func withPath<R>(_ body: (UnsafePointer<CChar>) -> R) -> R {
        buffer.withMemoryRebound(to: CChar.self, capacity: SignalSafeText.capacity) { body($0) }
    }

    mutating func flush() {
        var start = 0
        while start < count {
            let written = write(descriptor, buffer + start, count - start)
            guard written > 0 else { break }
            start += written
        }
        count = 0
    }

    private mutating func add(byte: UInt8) {
        if count == SignalSafeText.capacity - 1 {
            guard descriptor >= 0 else { return }
            flush()
        }
        buffer[count] = byte
        count += 1
    }
}
