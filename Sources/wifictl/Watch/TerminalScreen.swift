import Glibc
import Synchronization

/// The terminal while a screen is on it: entered once, and left however the process ends, so that the shell finds it as it was.
///
/// A signal handler may neither allocate nor lock: what it needs lies in memory that it finds by one address.
enum TerminalScreen {
    private struct Saved {
        var settings: termios
        var input: Int32
        var output: Int32
        var before: [Int32: sigaction]
    }

    /// The address of a ``Saved``; 0 while no screen is up.
    private static let current = Atomic<UInt>(0)
    /// What ends a process without asking it.
    private static let crashes = [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGQUIT]

    /// Whether a screen can be drawn: a terminal that can more than print, and isn't told otherwise.
    static var isPossible: Bool { Terminal.isTerminal(STDOUT_FILENO) && !Terminal.isDumb }

    /// Keys come at once and unseen from now on; Ctrl-C stays a signal. False where standard input is no terminal: a screen without keys.
    @discardableResult
    static func enter() -> Bool {
        guard current.load(ordering: .relaxed) == 0 else { return true }
        var settings = termios()
        let hasKeys = tcgetattr(STDIN_FILENO, &settings) == 0
        let saved = UnsafeMutablePointer<Saved>.allocate(capacity: 1)
        saved.initialize(to: Saved(settings: settings, input: hasKeys ? STDIN_FILENO : -1, output: STDOUT_FILENO, before: [:]))
        current.store(UInt(bitPattern: saved), ordering: .releasing)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { TerminalScreen.crashed($0) }
        for signal in crashes {
            var before = sigaction()
            sigaction(signal, &action, &before)
            saved.pointee.before[signal] = before
        }
        guard hasKeys else { return false }
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        // Ctrl-Z is a key like others: the screen is put away before the process stops.
        withUnsafeMutableBytes(of: &settings.c_cc) { characters in
            characters[Int(VSUSP)] = 0
            characters[Int(VMIN)] = 1
            characters[Int(VTIME)] = 0
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &settings)
        return true
    }

    /// The terminal as it was. Safe in a signal handler, and a second time.
    static func restore() {
        guard let saved else { return }
        var text = ScreenPainter.leave.utf8Start
        var left = ScreenPainter.leave.utf8CodeUnitCount
        while left > 0 {
            let count = write(saved.pointee.output, text, left)
            guard count > 0 else { break }
            text += count
            left -= count
        }
        if saved.pointee.input >= 0 { tcsetattr(saved.pointee.input, TCSANOW, &saved.pointee.settings) }
    }

    /// The screen is over.
    static func leave() {
        restore()
        guard let saved else { return }
        for (signal, action) in saved.pointee.before {
            var before = action
            sigaction(signal, &before, nil)
        }
        current.store(0, ordering: .releasing)
        saved.deinitialize(count: 1)
        saved.deallocate()
    }

    private static var saved: UnsafeMutablePointer<Saved>? {
        UnsafeMutablePointer(bitPattern: current.load(ordering: .acquiring))
    }

    private static func crashed(_ signal: Int32) {
        restore()
        Glibc.signal(signal, SIG_DFL)
        raise(signal)
    }
}
