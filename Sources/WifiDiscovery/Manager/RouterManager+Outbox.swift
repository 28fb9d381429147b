import SocketCore
import Synchronization

extension OutboxStore {
    /// What becomes of a session for whose router others hold all journals.
    public enum WhenAllHeld: Equatable, Sendable {
        /// It waits for one to become free, so long at most; then it's ``ManagerError/outboxHeld(_:after:)``.
        case wait(atMost: Duration)
        /// It goes without: for sessions in which nothing is sent that has to outlive the process.
        case goWithout
    }
}

/// Passes on each sentence once: what is tried again has the same to say again.
final class ToldOnce: Sendable {
    private let told = Mutex<Set<String>>([])
    private let onRemark: @Sendable (String) -> Void

    init(_ onRemark: @escaping @Sendable (String) -> Void) { self.onRemark = onRemark }

    @Sendable func tell(_ remark: String) {
        if told.withLock({ $0.insert(remark).inserted }) { onRemark(remark) }
    }
}

extension RouterManager {
    /// Between two looks whether a journal has become free: what tells of it, a lock's end, wakes nobody who would take any of several.
    private static let journalPause = Duration.milliseconds(50)

    /// Where messages are kept; nil when nothing is.
    var outboxes: OutboxStore? { options.home.map { OutboxStore(home: $0, onRemark: journalRemarks.tell) } }

    /// Calls `attempt` until others don't hold all of the router's journals, as long as is to be waited.
    ///
    /// - Throws: what `attempt` throws; ``ManagerError/outboxHeld(_:after:)`` in place of `OutboxJournalError.inUse`.
    func whenJournalIsFree<Result: Sendable>(
        _ mac: MACAddress, _ attempt: @Sendable (isolated RouterManager) async throws -> Result
    ) async throws -> Result {
        let start = ContinuousClock.now
        var isWaiting = false
        defer { if isWaiting { stopWaiting(for: mac) } }
        while true {
            do { return try await attempt(self) } catch OutboxJournalError.inUse {
                let span: Duration = if case .wait(let limit) = options.whenOutboxHeld { limit } else { .zero }
                guard .now - start < span else { throw ManagerError.outboxHeld(mac, after: span) }
                if !isWaiting {
                    // Of several who wait, the first one says so.
                    if journalWaiters[mac, default: 0] == 0 {
                        onRemark("others hold all \(OutboxStore.slots) journals of \(mac): waiting for one")
                    }
                    journalWaiters[mac, default: 0] += 1
                    isWaiting = true
                }
                try await Task.sleep(for: RouterManager.journalPause)
            }
        }
    }

    private func stopWaiting(for mac: MACAddress) {
        let others = journalWaiters[mac, default: 1] - 1
        journalWaiters[mac] = others > 0 ? others : nil
    }
}
