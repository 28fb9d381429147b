import Foundation
import Glibc
import Synchronization

/// What a command printed and how it ended.
public struct CommandResult: Sendable {
    /// The exit status; minus the signal's number for a command that a signal ended: 130 is only ever the command's own word.
    public let status: Int32
    /// Everything from standard output.
    public let output: [UInt8]
    /// Everything from standard error.
    public let errors: [UInt8]

    /// Standard output as text.
    public var text: String { String(decoding: output, as: UTF8.self) }
    /// Standard error as text.
    public var errorText: String { String(decoding: errors, as: UTF8.self) }
    /// Standard output's lines, without an empty one at the end.
    public var lines: [String] { text.split(separator: "\n").map(String.init) }
}

/// Why a command gave no result.
public enum CommandError: Error, CustomStringConvertible, Sendable {
    /// The command couldn't be started.
    case start(command: String, reason: String)
    /// It didn't do what was waited for in time, and what it had printed by then.
    case late(command: String, wanted: String, output: String, errors: String)
    /// It ended before it did what was waited for.
    case ended(command: String, wanted: String, status: Int32, output: String, errors: String)
    /// It ended with another status than 0 where that was required.
    case failed(command: String, status: Int32, errors: String)

    /// What happened, with everything printed by then.
    public var description: String {
        switch self {
        case .start(let command, let reason): "cannot start \(command): \(reason)"
        case .late(let command, let wanted, let output, let errors):
            "\(command): no \(wanted) in time; output: \(output); errors: \(errors)"
        case .ended(let command, let wanted, let status, let output, let errors):
            "\(command): ended (\(status)) without \(wanted); output: \(output); errors: \(errors)"
        case .failed(let command, let status, let errors): "\(command): ended with \(status): \(errors)"
        }
    }
}

/// A command under way. Killed when the last reference goes, so that a failing test leaves nothing behind.
public final class ChildProcess: Sendable {
    private let monitor: ChildMonitor
    /// Where a tool that isn't told otherwise keeps its state: never where this user's own lies, nor another test's.
    private let scratch: TemporaryDirectory?

    /// Starts `words`, the first of which is looked up in PATH, with `environment` added to this process's own.
    ///
    /// - Throws: ``CommandError/start(command:reason:)``.
    public init(_ words: [String], environment: [String: String] = [:]) throws {
        let namesHome = ["WIFICTL_HOME", "XDG_STATE_HOME", "HOME"].contains { environment[$0] != nil }
        scratch = namesHome ? nil : try TemporaryDirectory()
        let state = scratch.map { ["WIFICTL_HOME": $0.path] } ?? [:]
        monitor = try ChildMonitor(words, environment: environment.merging(state) { own, _ in own })
        let monitor = monitor
        Thread.detachNewThread { monitor.run() }
    }

    deinit {
        monitor.signal(SIGKILL)
    }

    /// The process's id.
    public var id: Int32 { monitor.process }

    /// Waits for a line on standard output that satisfies `matches`, among all lines not yet taken; that line and those
    /// before it are taken.
    ///
    /// - Throws: ``CommandError`` when the time is over or the output has ended.
    public func line(
        _ wanted: String = "line", within limit: Duration = .seconds(60),
        where matches: @escaping @Sendable (String) -> Bool = { _ in true }
    ) async throws -> String {
        let found = try await withCheckedThrowingContinuation { continuation in
            monitor.wait(ChildMonitor.Waiter(wanted: wanted, deadline: .now + limit, matches: matches, continuation: continuation))
        }
        return found.line
    }

    /// Waits for the end and gives everything printed; kills the command when the time is over.
    ///
    /// - Throws: ``CommandError/late(command:wanted:output:errors:)``.
    public func result(within limit: Duration = .seconds(120)) async throws -> CommandResult {
        let found = try await withCheckedThrowingContinuation { continuation in
            monitor.wait(ChildMonitor.Waiter(wanted: "end", deadline: .now + limit, matches: nil, continuation: continuation))
        }
        return found.result
    }

    /// Writes to standard input. Only for amounts that fit a pipe (64 KiB): a larger one may block.
    public func write(_ bytes: [UInt8]) { monitor.write(bytes) }

    /// Ends standard input.
    public func closeInput() { monitor.closeInput() }

    /// Sends a signal, unless the command has ended.
    public func signal(_ number: Int32) { monitor.signal(number) }
}

/// Runs `words` to the end; `input` is standard input. With `mustSucceed`, another exit status than 0 throws.
///
/// - Throws: ``CommandError``.
@discardableResult
public func runCommand(
    _ words: [String], input: [UInt8] = [], environment: [String: String] = [:], within limit: Duration = .seconds(60),
    mustSucceed: Bool = false
) async throws -> CommandResult {
    let child = try ChildProcess(words, environment: environment)
    // A thread of its own: a command that doesn't read its input must not stop the test from reading its output.
    Thread.detachNewThread {
        child.write(input)
        child.closeInput()
    }
    let result = try await child.result(within: limit)
    if mustSucceed, result.status != 0 {
        throw CommandError.failed(command: words.joined(separator: " "), status: result.status, errors: result.errorText)
    }
    return result
}
