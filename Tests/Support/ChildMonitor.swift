import Foundation
import Glibc
import Synchronization

/// The half of ``ChildProcess`` that runs on a thread of its own: reads both outputs, serves those who wait, and reaps.
final class ChildMonitor: Sendable {
    struct Found: Sendable {
        let line: String
        let result: CommandResult
    }

    struct Waiter: Sendable {
        let wanted: String
        let deadline: ContinuousClock.Instant
        /// Nil waits for the end.
        let matches: (@Sendable (String) -> Bool)?
        let continuation: CheckedContinuation<Found, any Error>
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        /// Where the lines not yet taken begin in `output`.
        var taken = 0
        var status: Int32?
        var waiters: [Waiter] = []
        /// The child's standard input; -1 once it's closed. It's closed by whoever needs it last, so that no writer finds another file there.
        var input: Int32
        var writers = 0
        var endsInput = false

        mutating func endInput() {
            endsInput = true
            guard writers == 0, input >= 0 else { return }
            close(input)
            input = -1
        }
    }

    private static let starting = Mutex(())

    let process: Int32
    private let command: String
    private let outputs: (standard: Int32, error: Int32)
    /// Written to when a waiter comes, so that the thread takes its deadline into account.
    private let wake: (read: Int32, write: Int32)
    private let state: Mutex<State>
    /// Beside the mutex, for the thread sanitizer: it knows this one's order, and not the other's.
    private let gate = NSLock()

    init(_ words: [String], environment: [String: String]) throws {
        command = words.joined(separator: " ")
        // Writing to a command that has ended is an error here, not the end of the test process.
        Glibc.signal(SIGPIPE, SIG_IGN)
        // Pipes are made, marked as not inherited, and given to the child as one step: a second child started between
        // would hold this one's pipes open, and their end would never be seen.
        let (made, started, failure) = try ChildMonitor.starting.withLock { _ in
            let pipes = try (0..<4).map { _ in try makePipe() }
            var started: Int32 = 0
            let failure = spawn(
                words, environment, input: pipes[0].read, output: pipes[1].write, errors: pipes[2].write, &started)
            return (pipes, started, failure)
        }
        for end in [made[0].read, made[1].write, made[2].write] { close(end) }
        process = started
        outputs = (made[1].read, made[2].read)
        wake = made[3]
        state = Mutex(State(input: made[0].write))
        guard failure == 0 else {
            for end in [made[0].write, made[1].read, made[2].read, made[3].read, made[3].write] { close(end) }
            throw CommandError.start(command: command, reason: String(cString: strerror(failure)))
        }
    }

    private func locked<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        gate.lock()
        defer { gate.unlock() }
        return state.withLock { body(&$0) }
    }

    func wait(_ waiter: Waiter) {
        locked { state in
            state.waiters.append(waiter)
            serve(&state)
            // Under the lock: without a status its other end is still read, and neither has been closed.
            if state.status == nil { _ = Glibc.write(wake.write, [1], 1) }
        }
    }

    func write(_ bytes: [UInt8]) {
        let input = locked { state -> Int32 in
            guard state.input >= 0, !state.endsInput else { return -1 }
            state.writers += 1
            return state.input
        }
        guard input >= 0 else { return }
        defer {
            locked { state in
                state.writers -= 1
                if state.endsInput { state.endInput() }
            }
        }
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(input, $0.baseAddress, $0.count) }
            guard count > 0 || errno == EINTR else { return }
            rest = rest.dropFirst(max(0, count))
        }
    }

    func closeInput() { locked { $0.endInput() } }

    func signal(_ number: Int32) {
        // Under the lock the process can't have been reaped, so that its id can't be somebody else's.
        locked { state in
            if state.status == nil { kill(process, number) }
        }
    }

    func run() {
        var open = [outputs.standard, outputs.error]
        while !open.isEmpty {
            var polled = (open + [wake.read]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            poll(&polled, nfds_t(polled.count), locked { timeout($0) })
            for entry in polled where entry.revents != 0 {
                if !read(entry.fd) { open.removeAll { $0 == entry.fd } }
            }
            locked { serve(&$0) }
        }
        reap()
    }

    /// Reads what is there; false at the end.
    private func read(_ descriptor: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 64 * 1024)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        guard count > 0 else { return count < 0 && errno == EINTR }
        locked { state in
            if descriptor == outputs.standard { state.output += buffer[..<count] }
            if descriptor == outputs.error { state.errors += buffer[..<count] }
        }
        return true
    }

    private func reap() {
        // Wait without taking the exit status: until it is taken, under the lock, the process's id stays its own.
        var information = siginfo_t()
        while waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT) != 0, errno == EINTR {}
        locked { state in
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
            state.status = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            serve(&state)
            state.endInput()
        }
        for end in [outputs.standard, outputs.error, wake.read, wake.write] { close(end) }
    }

    private func timeout(_ state: borrowing State) -> Int32 {
        guard let next = state.waiters.map(\.deadline).min() else { return -1 }
        let left = max(.zero, ContinuousClock.now.duration(to: next))
        return Int32(clamping: left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000 + 1)
    }

    private func serve(_ state: inout State) {
        let now = ContinuousClock.now
        var left: [Waiter] = []
        for waiter in state.waiters {
            if let found = answer(waiter, &state) {
                waiter.continuation.resume(returning: found)
            } else if let status = state.status {
                waiter.continuation.resume(
                    throwing: CommandError.ended(
                        command: command, wanted: waiter.wanted, status: status, output: text(state.output), errors: text(state.errors)))
            } else if now >= waiter.deadline {
                if waiter.matches == nil { kill(process, SIGKILL) }
                waiter.continuation.resume(
                    throwing: CommandError.late(
                        command: command, wanted: waiter.wanted, output: text(state.output), errors: text(state.errors)))
            } else {
                left.append(waiter)
            }
        }
        state.waiters = left
    }

    private func answer(_ waiter: Waiter, _ state: inout State) -> Found? {
        guard let matches = waiter.matches else {
            return state.status.map { Found(line: "", result: CommandResult(status: $0, output: state.output, errors: state.errors)) }
        }
        while let end = state.output[state.taken...].firstIndex(of: UInt8(ascii: "\n")) {
            let line = text(state.output[state.taken..<end])
            state.taken = end + 1
            if matches(line) { return Found(line: line, result: CommandResult(status: -1, output: [], errors: [])) }
        }
        return nil
    }
}

private func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

private func makePipe() throws -> (read: Int32, write: Int32) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw CommandError.start(command: "pipe", reason: String(cString: strerror(errno))) }
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    return (ends[0], ends[1])
}

/// posix_spawn with the three standard descriptors; gives its error number.
private func spawn(
    _ words: [String], _ environment: [String: String], input: Int32, output: Int32, errors: Int32, _ process: inout Int32
) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
    posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)

    // A child starts with no signal blocked and SIGPIPE as it was, whatever the test process does with its own.
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t(), pipe = sigset_t()
    sigemptyset(&none)
    sigemptyset(&pipe)
    sigaddset(&pipe, SIGPIPE)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &pipe)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

    let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    var arguments = words.map { strdup($0) } + [nil]
    var variables = merged.map { strdup("\($0.key)=\($0.value)") } + [nil]
    defer { for copy in arguments + variables { free(copy) } }
    return posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
}
