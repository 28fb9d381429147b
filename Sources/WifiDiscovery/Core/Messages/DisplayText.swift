/// Makes text from strangers safe to print and bounded to keep.
enum DisplayText {
    /// Enough for any name that a person would give; a longer one is cut.
    static let maximumNameBytes = 64
    /// An SSID's own limit (IEEE 802.11).
    static let maximumSSIDBytes = 32
    /// "2.4", "5", "6" and room for what comes.
    static let maximumBandBytes = 8

    /// The text with everything replaced that a terminal acts on or that reorders a line, cut to `limit` UTF-8 bytes.
    ///
    /// Control characters, line separators and the formatting characters (among them those that turn the writing
    /// direction) become U+FFFD. Joiners stay: emoji and several scripts need them, and nothing obeys them.
    static func clean(_ text: String, limit: Int) -> String {
        if text.utf8.count <= limit, text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
        var result = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            let safe = isHarmless(scalar) ? scalar : "\u{FFFD}"
            count += UTF8.width(safe)
            guard count <= limit else { break }
            result.append(safe)
        }
        return String(result)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        case .format: scalar == "\u{200C}" || scalar == "\u{200D}"
        default: true
        }
    }
}
