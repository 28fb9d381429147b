/// What a frame means in a session: the four combinations of "has an id" and "has a body" (protocol.md, section 2).
enum FrameKind: String, Sendable, CaseIterable {
    case message
    case receipt
    case heartbeat
    case fireAndForget = "fire-and-forget"

    init(msgId: UInt32, bodyLength: Int) {
        switch (msgId == 0, bodyLength == 0) {
        case (false, false): self = .message
        case (false, true): self = .receipt
        case (true, true): self = .heartbeat
        case (true, false): self = .fireAndForget
        }
    }
}
