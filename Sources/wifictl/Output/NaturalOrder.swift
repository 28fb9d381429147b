/// Text ordered as people order it: the numbers in it by their value, "Router 2" before "Router 10".
struct NaturalOrder: Comparable {
    private enum Part: Comparable {
        /// Digits without their leading zeros: the longer number is the larger one, however long both are.
        case number(length: Int, digits: String)
        case text(String)
    }

    private let parts: [Part]
    private let text: String

    init(_ text: String) {
        self.text = text
        var parts: [Part] = []
        var rest = text.lowercased()[...]
        let isDigit = { (character: Character) in ("0"..."9").contains(character) }
        while let first = rest.first {
            let run = isDigit(first) ? rest.prefix(while: isDigit) : rest.prefix { !isDigit($0) }
            let digits = String(run.drop { $0 == "0" })
            parts.append(isDigit(first) ? .number(length: digits.count, digits: digits) : .text(String(run)))
            rest = rest.dropFirst(run.count)
        }
        self.parts = parts
    }

    static func < (left: NaturalOrder, right: NaturalOrder) -> Bool {
        for (mine, theirs) in zip(left.parts, right.parts) where mine != theirs { return mine < theirs }
        guard left.parts.count == right.parts.count else { return left.parts.count < right.parts.count }
        // Equal but for case and leading zeros.
        return left.text < right.text
    }
}
