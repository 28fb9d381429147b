import Glibc

/// Notices that nobody reads standard output any more, for commands that may have nothing to print for hours: `router --json | head -1`.
enum ReaderWatch {
    /// Watches until the command is to end. Where standard output is no pipe, nobody can leave it.
    static func start(_ output: Output, _ cancellation: CancellationSignal) {
        var status = stat()
        guard fstat(STDOUT_FILENO, &status) == 0, [S_IFIFO, S_IFSOCK].contains(status.st_mode & S_IFMT) else { return }
        var thread = pthread_t()
        let watched = Unmanaged.passRetained(Watched(output: output, cancellation: cancellation)).toOpaque()
        let failure = pthread_create(&thread, nil, { ReaderWatch.run($0) }, watched)
        // Without a thread it's noticed at the next line, as ever.
        if failure == 0 { pthread_detach(thread) } else { Unmanaged<Watched>.fromOpaque(watched).release() }
    }

    private final class Watched: Sendable {
        let output: Output
        let cancellation: CancellationSignal

        init(output: Output, cancellation: CancellationSignal) {
            self.output = output
            self.cancellation = cancellation
        }
    }

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let watched = Unmanaged<Watched>.fromOpaque(context).takeRetainedValue()
        // Errors are told whether asked for or not; to ask for nothing else is to wait for them alone.
        var polled = [
            pollfd(fd: STDOUT_FILENO, events: 0, revents: 0),
            pollfd(fd: watched.cancellation.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while !watched.cancellation.isRaised {
            guard poll(&polled, 2, -1) > 0 else { continue }
            if polled[0].revents & Int16(POLLERR | POLLHUP) != 0 { watched.output.readerLeft() }
            if polled[0].revents != 0 { return nil }
        }
        return nil
    }
}
