/// Takes a session's events on its loop's thread, as they come: without a task a session that waits for them, which for a router with
/// thousands of sessions is most of their memory.
///
/// Its calls are made in the session's isolation: it may use `assumeIsolated` of the session, and of every actor on the same loop.
public protocol SessionAttendant: AnyObject, Sendable {
    /// What happened, in order; never empty. Messages among it count as taken, and are receipted at the end of the tick. It must not
    /// wait: an attendant that can't keep up says so with ``Session/setReading(_:)``.
    func session(_ session: Session, happened events: [SessionEvent])

    /// Messages came and nothing else happened; by default they're events like others.
    func session(_ session: Session, received messages: SessionMessages)

    /// The session is over; nothing more comes.
    func sessionEnded(_ session: Session)
}

extension SessionAttendant {
    /// Messages are events like others.
    public func session(_ session: Session, received messages: SessionMessages) {
        self.session(session, happened: (0..<messages.count).map { .message(messages[$0]) })
    }
}

extension Session {
    /// Gives all events from now on, and those that wait, to the attendant instead of ``events``. The session holds it until it ends.
    public func attend(by attendant: any SessionAttendant) {
        self.attendant = attendant
        flushLater()
    }

    /// Whether messages are taken; no stops the reading and with it, in time, the peer.
    public func setReading(_ reads: Bool) {
        core.setReading(reads, now: loop.now)
        flushLater()
    }
}
