/// The nearest right word for a wrong one.
enum Suggestion {
    /// The word with the fewest slips of the finger from `text` (a letter wrong, missing, extra, or two swapped), if
    /// that is at most a third of its length; an unfinished word that only one begins with counts as near too.
    static func nearest(to text: String, among words: [String]) -> String? {
        let wanted = Array(text.lowercased())
        guard !wanted.isEmpty else { return nil }
        let ranked = words.map { (word: $0, slips: distance(wanted, Array($0.lowercased()))) }
        if let best = ranked.min(by: { $0.slips < $1.slips }), best.slips <= max(1, max(wanted.count, best.word.count) / 3) {
            return best.word
        }
        let begun = words.filter { wanted.count >= 2 && $0.lowercased().hasPrefix(text.lowercased()) }
        return begun.count == 1 ? begun[0] : nil
    }

    /// Optimal string alignment distance, in three rolling rows.
    static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for (row, letter) in left.enumerated() {
            var current = [row + 1]
            for (column, other) in right.enumerated() {
                var best = min(last[column + 1] + 1, current[column] + 1, last[column] + (letter == other ? 0 : 1))
                if row > 0, column > 0, letter == right[column - 1], left[row - 1] == other {
                    best = min(best, beforeLast[column - 1] + 1)
                }
                current.append(best)
            }
            beforeLast = last
            last = current
        }
        return last[right.count]
    }
}
