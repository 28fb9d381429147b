import Glibc

/// What is known of the terminal behind a descriptor.
enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns of the terminal behind `descriptor`; nil when it is none. `COLUMNS` goes before what the terminal says; one that
    /// doesn't know its width counts as 80 columns.
    static func width(of descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        if let text = getenv("COLUMNS"), let columns = Int(String(cString: text)), (20...1_000).contains(columns) { return columns }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Columns and lines; nil when it is none. A terminal that doesn't know its size counts as 80 by 24.
    static func size(of descriptor: Int32) -> (columns: Int, lines: Int)? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Colours: only on a terminal that isn't dumb, and never when `NO_COLOR` is set to anything.
    static func wantsColour(_ descriptor: Int32) -> Bool {
        guard isTerminal(descriptor) else { return false }
        if let refusal = getenv("NO_COLOR"), refusal.pointee != 0 { return false }
        return !isDumb
    }

    /// Whether the terminal can only print.
    static var isDumb: Bool { getenv("TERM").map { String(cString: $0) == "dumb" } ?? true }
}
