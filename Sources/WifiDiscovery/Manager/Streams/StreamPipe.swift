import Glibc
import SocketCore

/// A stream's way into what is no regular file: written as it comes, since there's nothing to rename and nothing to go on with.
struct StreamPipe: ~Copyable {
    /// Between two looks at whoever doesn't read: the loop isn't blocked, so heartbeats go on.
    private static let pause = Duration.milliseconds(10)
    /// A pipe that says it has room takes that much at once.
    private static let most = Int(PIPE_BUF)

    private let place: OutputPlace
    private let descriptor: FileDescriptor

    /// Opens it; a pipe that nobody reads from is waited for.
    ///
    /// - Throws: ``StreamFileError``, `CancellationError`.
    init(_ place: OutputPlace) async throws {
        self.place = place
        while true {
            do throws(SystemError) {
                descriptor = try place.open(O_NONBLOCK)
                return
            } catch {
                guard error.code == ENXIO, place.kind == .pipe else { throw StreamFileError.system(error) }
            }
            try await Task.sleep(for: StreamPipe.pause)
        }
    }

    /// Writes all of it, waiting for whoever reads.
    ///
    /// - Throws: ``StreamFileError``, `CancellationError`.
    func write(_ bytes: [UInt8]) async throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            var waiting = pollfd(fd: descriptor.number, events: Int16(POLLOUT), revents: 0)
            let ready = poll(&waiting, 1, 0)
            // Written to all the same, a pipe without reader would end the whole process.
            guard waiting.revents & Int16(POLLERR) == 0 else {
                throw StreamPipe.failure(EPIPE, place)
            }
            let part = rest.prefix(StreamPipe.most)
            let count = ready > 0 ? part.withUnsafeBytes { Glibc.write(descriptor.number, $0.baseAddress!, $0.count) } : 0
            if count > 0 { rest = rest.dropFirst(count) }
            if count < 0, errno != EAGAIN, errno != EINTR { throw StreamPipe.failure(errno, place) }
            if count <= 0 { try await Task.sleep(for: StreamPipe.pause) }
        }
    }

    private static func failure(_ code: Int32, _ place: OutputPlace) -> StreamFileError {
        .system(SystemError(function: "write", code: code, subject: place.path))
    }
}
