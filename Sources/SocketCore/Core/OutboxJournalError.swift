/// Why a journal can't be kept.
public enum OutboxJournalError: Error, Equatable, Sendable {
    /// Another process holds this journal.
    case inUse(path: String)
    /// A call of the C library failed.
    case system(call: String, path: String, errno: Int32)
}
