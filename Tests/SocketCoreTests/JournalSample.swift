import SessionSimulation
import SocketCore

/// What the journal of a session holds after each of its commits.
struct JournalSample: ~Copyable {
    var core = SessionCore(SessionPair.journalling, session: SessionPair.session, seed: 1, now: .zero)
    private(set) var bytes: [UInt8] = []
    /// The file's length after each commit; the first one writes the header.
    private(set) var commits: [Int] = []

    init() { commit() }

    mutating func commit() {
        if let batch = core.takeJournal() { bytes += batch.bytes }
        commits.append(bytes.count)
    }
}
