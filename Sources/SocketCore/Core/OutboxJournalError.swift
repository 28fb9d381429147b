/// Why a journal can't be kept.
public enum OutboxJournalError: Error, Equatable, Sendable {
    /// Another process holds this journal.
    case inUse(path: String)
    /// What it holds can't be gone on with as this session is configured; nothing of it was changed.
    case unfit(path: String, JournalMisfit)
    /// A call of the C library failed.
    case system(call: String, path: String, errno: Int32)
}

/// Why a session can't be gone on with from its journal.
public enum JournalMisfit: Error, Equatable, Sendable, CustomStringConvertible {
    /// The journal is the other side's.
    case otherRole(SessionConfiguration.Role)
    /// It's another session's.
    case otherSession(SessionIdentifier)
    /// An accepted message was allowed to be larger, by its session's limit or by its layout.
    case messageTooLarge(msgId: UInt32, bytes: Int, limit: Int)

    /// A clause for people, whose subject is the journal.
    public var description: String {
        switch self {
        case .otherRole(let role): "is a \(role)'s: give this side one of its own"
        case .otherSession(let session): "is session \(session)'s: go on with that one, or use another file"
        case .messageTooLarge(let msgId, let bytes, let limit):
            "holds message \(msgId) of \(bytes) bytes, accepted under a larger limit than this session's \(limit): "
                + "settle it with a limit and a layout that allow \(bytes)"
        }
    }
}
