extension ValueKind where Value == Duration {
    /// A span of time with its unit: `300ms`, `2s`, `1.5s`, `1m`, `1h`.
    static var duration: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard let nanoseconds = Quantity.read(text, units: Quantity.timeUnits) else {
                throw ValueProblem("isn't a time", hint: "write 300ms, 2s, 1m or 1h")
            }
            return .nanoseconds(nanoseconds)
        }
    }
}

extension ValueKind where Value == Int {
    /// A number of bytes: `123`, `64KiB`, `1MiB`, `1GiB`; `KB` and `MB` are powers of ten.
    static var size: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard let bytes = Quantity.read(text, units: Quantity.sizeUnits) else {
                throw ValueProblem("isn't a size", hint: "write 123, 64KiB or 1MiB")
            }
            return Int(bytes)
        }
    }

    /// The same of something that goes on: none at all is no rate.
    static var rate: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            let bytes = try size.parse(text)
            guard bytes > 0 else { throw ValueProblem("would let nothing through", hint: "write 1, 64KiB or 1MiB: bytes a second") }
            return bytes
        }
    }
}

/// A decimal number followed by a unit. No float takes part: the result is exact or refused.
enum Quantity {
    /// Units and what one of them is worth in nanoseconds.
    static let timeUnits: [(name: String, worth: Int64)] = [
        ("ns", 1), ("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000), ("m", 60_000_000_000), ("h", 3_600_000_000_000),
    ]
    /// Units and what one of them is worth in bytes; no unit means bytes.
    static let sizeUnits: [(name: String, worth: Int64)] = [
        ("", 1), ("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30), ("kB", 1_000), ("KB", 1_000), ("MB", 1_000_000),
        ("GB", 1_000_000_000),
    ]

    /// The value in the smallest unit; nil for anything that isn't digits, at most one point with digits on both
    /// sides, and a known unit, or that doesn't come out whole or doesn't fit.
    static func read(_ text: String, units: [(name: String, worth: Int64)]) -> Int64? {
        let end = text.firstIndex { !("0"..."9").contains($0) && $0 != "." } ?? text.endIndex
        let parts = text[..<end].split(separator: ".", omittingEmptySubsequences: false)
        let unitName = text[end...]
        guard let unit = units.first(where: { $0.name == unitName }), let whole = parts.first.flatMap({ Int64($0) }) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit.worth)
        guard !overflow else { return nil }
        switch parts.count {
        case 1: return product
        case 2: return fraction(of: unit.worth, parts[1]).flatMap { add(product, $0) }
        default: return nil
        }
    }

    private static func fraction(of worth: Int64, _ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.count <= 9, let numerator = Int64(digits) else { return nil }
        let denominator = (0..<digits.count).reduce(Int64(1)) { power, _ in power * 10 }
        let (product, overflow) = numerator.multipliedReportingOverflow(by: worth)
        return !overflow && product % denominator == 0 ? product / denominator : nil
    }

    private static func add(_ left: Int64, _ right: Int64) -> Int64? {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? nil : sum
    }
}
