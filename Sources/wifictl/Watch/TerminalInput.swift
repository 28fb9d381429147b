import Glibc
import Synchronization

/// What comes from the terminal: keys, and that it has another size. Read by a thread of its own, which waits in `poll`.
final class TerminalInput: Sendable {
    enum Event: Sendable {
        case bytes([UInt8])
        case resized
        /// Nothing more will come from the keyboard.
        case ended
    }

    /// The end of the pipe that the handler of SIGWINCH writes to: the one thing that it can reach.
    private static let wake = Atomic<Int32>(-1)

    private let pipe: (read: Int32, write: Int32)
    private let stopPipe: (read: Int32, write: Int32)
    private let hasKeys: Bool
    private let handler: @Sendable (Event) -> Void

    /// - Parameter handler: called by the reading thread.
    init?(hasKeys: Bool, _ handler: @escaping @Sendable (Event) -> Void) {
        guard let pipe = TerminalInput.makePipe(), let stop = TerminalInput.makePipe() else { return nil }
        (self.pipe, stopPipe) = (pipe, stop)
        self.hasKeys = hasKeys
        self.handler = handler
        TerminalInput.wake.store(pipe.write, ordering: .releasing)
        var action = sigaction()
        action.__sigaction_handler.sa_handler = { _ in
            let saved = errno
            var byte: UInt8 = 0
            _ = write(TerminalInput.wake.load(ordering: .relaxed), &byte, 1)
            errno = saved
        }
        action.sa_flags = Int32(SA_RESTART)
        sigaction(SIGWINCH, &action, nil)
        guard OwnThread.run({ self.run() }) else { return nil }
    }

    private static func makePipe() -> (read: Int32, write: Int32)? {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return (ends[0], ends[1])
    }

    /// Ends the thread.
    func stop() {
        signal(SIGWINCH, SIG_DFL)
        TerminalInput.wake.store(-1, ordering: .releasing)
        _ = write(stopPipe.write, [1], 1)
    }

    private func run() {
        var keyboard = hasKeys ? STDIN_FILENO : -1
        var buffer = [UInt8](repeating: 0, count: 256)
        while true {
            var waiting = [keyboard, pipe.read, stopPipe.read].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            if poll(&waiting, nfds_t(waiting.count), -1) < 0, errno != EINTR { return }
            if waiting[2].revents != 0 { return }
            if waiting[1].revents != 0 {
                while read(pipe.read, &buffer, buffer.count) > 0 {}
                handler(.resized)
            }
            guard waiting[0].revents != 0 else { continue }
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count > 0 {
                handler(.bytes(Array(buffer[..<count])))
            } else if count == 0 || errno != EINTR && errno != EAGAIN {
                keyboard = -1
                handler(.ended)
            }
        }
    }
}
