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
        /// Who takes remarks while a screen is on the terminal.
        var remarks: (@Sendable (String) -> Void)?
    }

    let mode: Mode
    let verbosity: Verbosity
    /// The columns of the terminal on standard output; nil when it is none.
    let width: Int?
    private let target: OutputTarget
    /// Whether text may stand out on standard output.
    let isPainted: Bool
    private let remarksArePainted: Bool
    private let progressWidth: Int?
    private let state = Mutex(State())

    init(mode: Mode, verbosity: Verbosity, to target: OutputTarget = .standard) {
        self.mode = mode
        self.verbosity = verbosity
        self.target = target
        width = target.facts.width
        isPainted = mode == .text && target.facts.isPainted
        remarksArePainted = target.facts.remarksArePainted
        progressWidth = verbosity == .quiet ? nil : target.facts.remarksWidth
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

    /// A sentence as data: on a terminal it goes on below between two words, never within one.
    ///
    /// - Parameter margin: blanks before each line but the first.
    func sentence(_ text: String, margin: Int = 0) {
        line(Output.wrapped(text, to: width, margin: margin))
    }

    /// The text as it goes behind that many columns: on a terminal with line breaks between words, each followed by as many blanks.
    func fitted(_ text: String, behind margin: Int) -> String {
        guard let width, width >= margin + 20 else { return text }
        return Table.wrap(text, to: width - margin).joined(separator: "\n" + String(repeating: " ", count: margin))
    }

    private static func wrapped(_ text: String, to width: Int?, margin: Int = 0) -> String {
        guard let width, width > 20, DisplayWidth.of(text) > width else { return text }
        let head = String(text.prefix { $0 == " " })
        let lines = Table.wrap(text, to: width - max(margin, head.count))
        return head + lines.joined(separator: "\n" + String(repeating: " ", count: max(margin, head.count)))
    }

    /// Nobody reads standard output any more: the same as when a write finds that out.
    func readerLeft() {
        let handler = state.withLock { state in
            defer { state.onClose = nil }
            state.isClosed = true
            return state.onClose
        }
        handler?(.closedPipe)
    }

    /// Raw bytes on standard output.
    func bytes(_ data: [UInt8]) {
        let close: (() -> Void)? = state.withLock { state in
            guard !state.isClosed else { return nil }
            erase(&state)
            let failure = target.write(data, .data)
            redraw(state)
            guard let failure else { return nil }
            state.isClosed = true
            let handler = state.onClose
            state.onClose = nil
            return { handler?(failure == EPIPE ? .closedPipe : .unwritable(systemMessage(failure))) }
        }
        close?()
    }

    /// Returns when most of what was printed has been taken by whoever reads it: long output waits for its reader.
    func room() async { await target.room() }

    /// Somebody else's bytes on standard output, as they are; not on a terminal, where they could do more than be read.
    ///
    /// - Throws: ``ToolError`` when a terminal would obey them.
    func stream(_ data: [UInt8]) throws(ToolError) {
        let isHarmless = { (byte: UInt8) in byte >= 0x20 && byte != 0x7F || [0x09, 0x0A, 0x0D].contains(byte) }
        guard width == nil || data.allSatisfy(isHarmless) && String(validating: data, as: UTF8.self) != nil else {
            throw ToolError("these bytes are no text, and a terminal would obey them", hint: "--output FILE, or a pipe such as | xxd")
        }
        bytes(data)
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
        if verbosity >= .verbose { report("", behind: text, .dim) }
    }

    /// Something that is wrong but doesn't end the command; printed even with `--quiet`.
    func warning(_ text: String) {
        report(text, behind: "warning:", .yellow)
    }

    /// The error that ends the tool.
    func fail(_ text: String) {
        report(text, behind: "wifictl:", .red)
    }

    /// Shows `text` as the progress line, in place of the one before; only on a terminal and not with `--quiet`.
    func progress(_ text: String) {
        guard let progressWidth else { return }
        let shown = DisplayWidth.fit(DisplayWidth.printable(text), to: progressWidth - 1)
        state.withLock { state in
            guard state.progress != shown, state.remarks == nil else { return }
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

    /// Remarks that are laid out already, their progress lines included.
    func remarks(_ bytes: [UInt8]) { state.withLock { _ in _ = target.write(bytes, .remarks) } }

    /// Remarks go to `taker` from now on, and no progress is shown: standard error is behind a screen. nil ends that.
    func divert(to taker: (@Sendable (String) -> Void)?) {
        clearProgress()
        state.withLock { $0.remarks = taker }
    }

    private func report(_ text: String, behind mark: String = "", _ paint: Paint = .bold) {
        let space = mark.isEmpty || text.isEmpty ? "" : " "
        let text = ScopeNames.put(into: text)
        if let taker = state.withLock({ $0.remarks }) { return taker(mark + space + text) }
        let plain = text.split(separator: "\n", omittingEmptySubsequences: false).enumerated().map { index, line in
            Output.wrapped((index == 0 ? mark + space : "") + line, to: target.facts.remarksWidth)
        }.joined(separator: "\n")
        let line = (mark.isEmpty || !remarksArePainted ? plain : paint.apply(mark) + plain.dropFirst(mark.count)) + "\n"
        state.withLock { state in
            erase(&state)
            // With nobody to read remarks there is nobody to tell either.
            _ = target.write(Array(line.utf8), .remarks)
            redraw(state)
        }
    }

    private func erase(_ state: inout State) {
        if !state.progress.isEmpty { _ = target.write(Array("\r\u{1b}[2K".utf8), .remarks) }
    }

    private func redraw(_ state: borrowing State) {
        if !state.progress.isEmpty { _ = target.write(Array("\r\u{1b}[2K\(state.progress)".utf8), .remarks) }
    }
}
