import Glibc

/// What is known of the terminal behind a descriptor.
enum Terminal {
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// The columns of the terminal behind `descriptor`; nil when it is none. A terminal that doesn't know its width
    /// counts as 80 columns.
    static func width(of descriptor: Int32) -> Int? {
        guard isTerminal(descriptor) else { return nil }
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Colours: only on a terminal that isn't dumb, and never when `NO_COLOR` is set to anything.
    static func wantsColour(_ descriptor: Int32) -> Bool {
        guard isTerminal(descriptor) else { return false }
        if let refusal = getenv("NO_COLOR"), refusal.pointee != 0 { return false }
        guard let term = getenv("TERM") else { return false }
        return String(cString: term) != "dumb"
    }
}
