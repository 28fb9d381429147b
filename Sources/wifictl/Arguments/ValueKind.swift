/// How the text of an option's value becomes a value. Kinds of other types (a MAC, a layout) are added as
/// extensions beside the commands that need them.
struct ValueKind<Value: Sendable>: Sendable {
    /// Reads one value; throws what is wrong with the text, without naming the option.
    let parse: @Sendable (String) throws(ValueProblem) -> Value
    /// All values there are, where these are a few words: for completion.
    let words: [String]

    init(words: [String] = [], _ parse: @escaping @Sendable (String) throws(ValueProblem) -> Value) {
        self.words = words
        self.parse = parse
    }
}

/// What is wrong with a value's text: "isn't a duration", and what would be right.
struct ValueProblem: Error, Equatable {
    let complaint: String
    let hint: String?

    init(_ complaint: String, hint: String? = nil) {
        self.complaint = complaint
        self.hint = hint
    }
}

extension ValueKind where Value == String {
    /// Any text, the empty one included.
    static var text: ValueKind {
        ValueKind { (text) throws(ValueProblem) in text }
    }

    /// One of a few words; a near miss is answered with the nearest.
    static func word(_ words: [String]) -> ValueKind {
        ValueKind(words: words) { (text) throws(ValueProblem) in
            guard words.contains(text) else { throw wrongWord(text, among: words) }
            return text
        }
    }
}

extension ValueKind {
    /// One of a few words, each standing for a value. `spellings` are taken as well, and offered to nobody.
    static func choice(_ choices: [(word: String, value: Value)], also spellings: [(word: String, value: Value)] = []) -> ValueKind {
        ValueKind(words: choices.map(\.word)) { (text) throws(ValueProblem) in
            guard let choice = (choices + spellings).first(where: { $0.word == text }) else {
                throw wrongWord(text, among: choices.map(\.word))
            }
            return choice.value
        }
    }

    /// A list of values with commas between, without empty parts: `native,ssdp`.
    static func list<Element>(of kind: ValueKind<Element>) -> ValueKind<[Element]> where Value == [Element] {
        ValueKind<[Element]>(words: kind.words) { (text) throws(ValueProblem) in
            var values: [Element] = []
            for part in text.split(separator: ",", omittingEmptySubsequences: false) {
                values.append(try kind.parse(String(part)))
            }
            return values
        }
    }
}

extension ValueKind where Value: FixedWidthInteger & Sendable {
    /// A whole number in decimal, or in hexadecimal behind `0x`.
    static func integer(in range: ClosedRange<Value> = .min ... .max) -> ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            let number = text.hasPrefix("0x") ? Value(text.dropFirst(2), radix: 16) : Value(text)
            guard let number, range.contains(number), !text.hasPrefix("0x+"), !text.hasPrefix("0x-") else {
                throw ValueProblem("isn't a whole number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
    }
}

extension ValueKind where Value == Double {
    /// A probability: 0, 1, or a decimal fraction between.
    static var probability: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            let plain = text.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
            guard plain, let value = Double(text), value >= 0, value <= 1 else {
                throw ValueProblem("isn't a probability from 0 to 1", hint: "a fifth is 0.2")
            }
            return value
        }
    }
}

private func wrongWord(_ text: String, among words: [String]) -> ValueProblem {
    if let near = Suggestion.nearest(to: text, among: words) {
        return ValueProblem("isn't known", hint: "did you mean \(near)?")
    }
    return ValueProblem("isn't known", hint: "one of \(words.joined(separator: ", "))")
}
