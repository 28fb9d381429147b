import Synchronization

@testable import wifictl

/// What an output wrote, data and remarks, in order.
final class Written: Sendable {
    private let text = Mutex("")

    /// The lines of it.
    var lines: [String] { text.withLock { $0 }.split(separator: "\n").map(String.init) }

    /// A terminal of so many columns that shows remarks in colour; nil is a file.
    func target(_ width: Int?) -> OutputTarget {
        OutputTarget(
            facts: .init(width: width, remarksWidth: width, isPainted: false, remarksArePainted: width != nil),
            write: { bytes, _ in
                self.text.withLock { $0 += String(decoding: bytes, as: UTF8.self) }
                return nil
            }, room: {})
    }
}
