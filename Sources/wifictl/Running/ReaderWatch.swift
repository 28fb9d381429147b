import Glibc

/// Notices that nobody reads standard output any more, for commands that may have nothing to print for hours: `router --json | head -1`.
enum ReaderWatch {
    /// Watches until the command is to end. Where standard output is no pipe, nobody can leave it.
    static func start(_ output: Output, _ cancellation: CancellationSignal) {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else { return }
        // Without a thread it's noticed at the next line, as ever.
        _ = OwnThread.run { watch(output, cancellation) }
    }

    private static func watch(_ output: Output, _ cancellation: CancellationSignal) {
        // Errors are told whether asked for or not; to ask for nothing else is to wait for them alone.
        var polled = [
            pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            pollfd(fd: cancellation.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while !cancellation.isRaised {
            guard poll(&polled, 2, -1) > 0 else { continue }
            if polled[0].revents & Int16(POLLERR | POLLHUP) != 0 { output.readerLeft() }
            if polled[0].revents != 0 { return }
        }
    }
}
