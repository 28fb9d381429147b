import SocketCore

extension SeededGenerator {
    /// A number in 0..<bound; the bias of at most 2^-32 a value doesn't matter here, a division would.
    @inline(__always)
    mutating func below(_ bound: Int) -> Int {
        Int(truncatingIfNeeded: ((next() >> 32) &* UInt64(truncatingIfNeeded: bound)) >> 32)
    }

    /// One of the elements.
    @inline(__always)
    mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// True once in `n` times.
    @inline(__always)
    mutating func once(in n: Int) -> Bool { below(n) == 0 }

    /// The generator for one run of a campaign: the run's case depends on nothing but the seed and its number.
    static func forRun(_ index: UInt64, seed: UInt64) -> SeededGenerator {
        var mixer = SeededGenerator(seed: seed &+ index &* 0xD134_2543_DE82_EF95)
        return SeededGenerator(seed: mixer.next())
    }
}
