import Glibc
import SocketCore

/// This tool once more, in the background: in a session of its own, so that closing the terminal doesn't end it, and
/// without the terminal's input and output.
struct BackgroundProcess: ~Copyable {
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
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, writing.number, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, writing.number, STDERR_FILENO)
        let (process, failure) = ChildSpawn.start("/proc/self/exe", [CommandLine.arguments[0]] + words, .ownSession, &actions)
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
