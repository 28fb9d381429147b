import Glibc

/// Where output goes and how it may look there: this process's own descriptors, or, in the agent, those of the command that
/// asked.
struct OutputTarget: Sendable {
    enum Channel: Sendable { case data, remarks }

    /// What is known of what lies behind the two channels.
    struct Facts: Equatable, Sendable {
        /// The columns of the terminal that data goes to; nil when it is none.
        var width: Int?
        /// The same for remarks, where progress is shown.
        var remarksWidth: Int?
        /// Whether data may be coloured.
        var isPainted: Bool
        var remarksArePainted: Bool
    }

    let facts: Facts
    /// Writes all of it; gives the error number when that can't be done.
    let write: @Sendable ([UInt8], Channel) -> Int32?
    /// Returns when most of what was written has been taken by whoever reads it.
    let room: @Sendable () async -> Void

    /// Standard output and standard error.
    static var standard: OutputTarget {
        let facts = Facts(
            width: Terminal.width(of: STDOUT_FILENO), remarksWidth: Terminal.isDumb ? nil : Terminal.width(of: STDERR_FILENO),
            isPainted: Terminal.wantsColour(STDOUT_FILENO), remarksArePainted: Terminal.wantsColour(STDERR_FILENO))
        // Writing waits for the reader itself.
        return OutputTarget(
            facts: facts, write: { writeAll($0, to: $1 == .data ? STDOUT_FILENO : STDERR_FILENO) }, room: {})
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
