/// How many terminal columns text takes: 0 for combining marks and controls, 2 for East Asian wide characters and
/// emoji, 1 for all else. Good for names on a LAN; no terminal agrees with another on the last details.
enum DisplayWidth {
    static func of(_ text: String) -> Int {
        text.reduce(0) { $0 + of($1) }
    }

    static func of(_ character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        if character.unicodeScalars.contains(where: { $0.value == 0xFE0F }) { return 2 }
        if isWide(first) { return 2 }
        switch first.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .control, .format: return 0
        default: return 1
        }
    }

    /// Ranges from Unicode's EastAsianWidth (W and F) and emoji presentation, joined where nothing else lies between.
    private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x33FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xA000...0xA4CF, 0xA960...0xA97F,
            0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1_F1E6...0x1_F1FF, 0x1_F300...0x1_F64F,
            0x1_F680...0x1_F6FF, 0x1_F900...0x1_F9FF, 0x1_FA70...0x1_FAFF, 0x2_0000...0x3_FFFD:
            true
        default: scalar.properties.isEmojiPresentation
        }
    }

    /// `text` shortened to `width` columns, the last of them an ellipsis when something was cut.
    static func fit(_ text: String, to width: Int) -> String {
        guard of(text) > width else { return text }
        guard width > 0 else { return "" }
        var used = 0
        var kept = ""
        for character in text {
            let next = of(character)
            if used + next > width - 1 { break }
            used += next
            kept.append(character)
        }
        return kept + "…"
    }

    /// Text from the network as it may go to a terminal: control characters (escape sequences, newlines, direction
    /// overrides) are shown as `?`, so that a router's name can't repaint the screen or forge a line.
    static func printable(_ text: String) -> String {
        var safe = ""
        for scalar in text.unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: safe.unicodeScalars.append("?")
            case .format where scalar.value != 0x200D: safe.unicodeScalars.append("?")
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
