import Glibc
import SocketCore

/// This tool once more, in the background: in a session of its own, so that closing the terminal doesn't end it, and
/// without the terminal's input and output.
struct BackgroundProcess: ~Copyable {
    /// POSIX_SPAWN_SETSID, which the C library declares for GNU sources alone.
    private static let ownSession: Int16 = 0x80

    /// Its process id.
    let number: pid_t
    private let output: FileDescriptor

    private init(number: pid_t, output: consuming FileDescriptor) {
        self.number = number
        self.output = output
    }

    /// Starts the tool with `words`; its standard output and error are read by ``firstLine()`` until this value goes.
    static func start(_ words: [String]) throws(ToolError) -> BackgroundProcess {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw ToolError("cannot start the agent: \(systemMessage(errno))") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let reading = FileDescriptor(owning: ends[0])
        let writing = FileDescriptor(owning: ends[1])
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writing.number, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing.number, STDERR_FILENO)
        posix_spawnattr_setflags(&attributes, BackgroundProcess.ownSession)
        var arguments: [UnsafeMutablePointer<CChar>?] = ([CommandLine.arguments[0]] + words).map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var process = pid_t()
        let failure = posix_spawn(&process, "/proc/self/exe", &actions, &attributes, &arguments, environ)
        guard failure == 0 else { throw ToolError("cannot start the agent: \(systemMessage(failure))") }
        return BackgroundProcess(number: process, output: reading)
    }

    /// The first line that it prints; nil when it ends without one.
    func firstLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(output.number, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return line.isEmpty ? nil : String(decoding: line, as: UTF8.self) }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }
}
