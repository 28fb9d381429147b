import SocketCore
import Synchronization
import WifiDiscovery

/// Tells a person that a connection over which something goes on for long is lost, and that it stands again.
final class LinkRemarks: Sendable {
    private let mac: MACAddress
    private let output: Output
    private let loss = Mutex(String?.none)

    init(_ mac: MACAddress, _ output: Output) {
        self.mac = mac
        self.output = output
    }

    /// Why it doesn't stand, as far as it was told; nil while it does.
    var obstacle: String? { loss.withLock(\.self) }

    func hear(_ event: SessionEvent) {
        switch event {
        // Nothing's fault.
        case .state(.lost(.closed)), .state(.lost(.suspended)): break
        case .state(.lost(let reason)):
            // Each further try may fail for a reason of its own: one remark is enough.
            if set("\(reason)") == nil { say("the connection with \(mac) is lost: \(reason); trying again") }
        case .state(.open), .state(.resumed):
            if set(nil) != nil { say("the connection with \(mac) stands again: going on") }
        default: break
        }
    }

    private func set(_ new: String?) -> String? {
        loss.withLock { old in
            defer { old = new }
            return old
        }
    }

    /// `session` lines, or details of a session, tell the same.
    private func say(_ text: String) { if !output.isJSON, output.verbosity < .verbose { output.remark(text) } }
}
