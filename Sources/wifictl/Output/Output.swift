import Glibc
import Synchronization

/// All that the tool prints: data on standard output, remarks and progress on standard error. Safe to use from any
/// task; every line leaves whole and at once.
final class Output: Sendable {
    enum Mode: Sendable { case text, json }
    enum Verbosity: Sendable, Comparable { case quiet, normal, verbose }

    private struct State {
        var progress = ""
        var isClosed = false
        var onClose: (@Sendable (CancellationSignal.Cause) -> Void)?
    }

    let mode: Mode
    let verbosity: Verbosity
    /// The columns of the terminal on standard output; nil when it is none.
    let width: Int?
    private let isPainted: Bool
    private let remarksArePainted: Bool
    private let progressWidth: Int?
    private let state = Mutex(State())

    init(mode: Mode, verbosity: Verbosity) {
        self.mode = mode
        self.verbosity = verbosity
        width = Terminal.width(of: STDOUT_FILENO)
        isPainted = mode == .text && Terminal.wantsColour(STDOUT_FILENO)
        remarksArePainted = Terminal.wantsColour(STDERR_FILENO)
        progressWidth = verbosity == .quiet ? nil : Terminal.width(of: STDERR_FILENO)
    }

    /// Whether to print JSON Lines instead of text.
    var isJSON: Bool { mode == .json }

    /// Whether standard output can't be written any more; what is printed from then on is dropped.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Called once, when standard output is found to be closed or broken.
    func onClose(_ handler: @escaping @Sendable (CancellationSignal.Cause) -> Void) {
        state.withLock { $0.onClose = handler }
    }

    /// `text` standing out, if standard output is a terminal that shows colours; else unchanged.
    func paint(_ text: String, _ paint: Paint) -> String {
        isPainted ? paint.apply(text) : text
    }

    // MARK: Data

    /// A line (or several) of data on standard output.
    func line(_ text: String) {
        bytes(Array((text + "\n").utf8))
    }

    /// Raw bytes on standard output.
    func bytes(_ data: [UInt8]) {
        let close: (() -> Void)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            erase(&state)
            let failure = writeAll(data, to: STDOUT_FILENO)
            redraw(state)
            guard let failure else { return nil }
            state.isClosed = true
            let handler = state.onClose
            state.onClose = nil
            return { handler?(failure == EPIPE ? .closedPipe : .unwritable(systemMessage(failure))) }
        }
        close?()
    }

    /// A table on standard output, fitted to the terminal.
    func table(_ table: Table) {
        line(table.lines(width: width, painted: isPainted).joined(separator: "\n"))
    }

    // MARK: Remarks

    /// A remark for a person; not with `--quiet`.
    func remark(_ text: String) {
        if verbosity >= .normal { report(text) }
    }

    /// A remark for a person who asked for more with `--verbose`.
    func detail(_ text: String) {
        if verbosity >= .verbose { report(remarksArePainted ? Paint.dim.apply(text) : text) }
    }

    /// Something that is wrong but doesn't end the command; printed even with `--quiet`.
    func warning(_ text: String) {
        report((remarksArePainted ? Paint.yellow.apply("warning:") : "warning:") + " " + text)
    }

    /// The error that ends the tool.
    func fail(_ text: String) {
        report((remarksArePainted ? Paint.red.apply("wifictl:") : "wifictl:") + " " + text)
    }

    /// Shows `text` as the progress line, in place of the one before; only on a terminal and not with `--quiet`.
    func progress(_ text: String) {
        guard let progressWidth else { return }
        let shown = DisplayWidth.fit(DisplayWidth.printable(text), to: progressWidth - 1)
        state.withLock { state in
            guard state.progress != shown else { return }
            state.progress = shown
            redraw(state)
        }
    }

    /// Takes the progress line away for good.
    func clearProgress() {
        state.withLock { state in
            erase(&state)
            state.progress = ""
        }
    }

    private func report(_ text: String) {
        state.withLock { state in
            erase(&state)
            // With nobody to read remarks there is nobody to tell either.
            _ = writeAll(Array((text + "\n").utf8), to: STDERR_FILENO)
            redraw(state)
        }
    }

    private func erase(_ state: inout State) {
        if !state.progress.isEmpty { _ = writeAll(Array("\r\u{1b}[2K".utf8), to: STDERR_FILENO) }
    }

    private func redraw(_ state: borrowing State) {
        if !state.progress.isEmpty { _ = writeAll(Array("\r\u{1b}[2K\(state.progress)".utf8), to: STDERR_FILENO) }
    }
}

/// Writes all of `data`; gives the error number when that can't be done.
private func writeAll(_ data: [UInt8], to descriptor: Int32) -> Int32? {
    var rest = data[...]
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            rest = rest.dropFirst(count)
        } else if errno == EAGAIN {
            var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            poll(&waiting, 1, -1)
        } else if errno != EINTR {
            return errno
        }
    }
    return nil
}
