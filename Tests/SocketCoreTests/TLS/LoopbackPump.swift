import Foundation
import Glibc
import TestSupport

@testable import SocketCore

/// Carries one engine's bytes over a blocking loopback socket, with a time limit on each read: the simplest thing that could
/// speak to another implementation.
struct LoopbackPump: Sendable {
    /// What one connection came to.
    struct Outcome: Sendable {
        var plaintext: [UInt8] = []
        var error: TLSError?
        var evidence: PeerEvidence?
        var isResumed = false
        var text: String { String(decoding: plaintext, as: UTF8.self) }
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private static let limit = timeval(tv_sec: 20, tv_usec: 0)

    /// Connects, sends `words` once the handshake is done, and reads until the other side ends or `isDone` says so.
    static func connect(
        to port: UInt16, _ configuration: TLSConfiguration, saying words: String, until isDone: @escaping @Sendable ([UInt8]) -> Bool
    ) async throws -> Outcome {
        try await onThread {
            let descriptor = try open()
            defer { close(descriptor) }
            try withAddress(port) { address, length in
                guard Glibc.connect(descriptor, address, length) == 0 else { throw Failure(description: "connect: \(errno)") }
            }
            let engine = try TLSEngine(TLSContext(configuration))
            try engine.start()
            return run(engine, descriptor, saying: Array(words.utf8), echoing: false, until: isDone)
        }
    }

    /// Accepts `count` connections, one after the other and with one context, and sends back what comes. The port is told at once.
    static func serve(_ configuration: TLSConfiguration, count: Int = 1) throws -> (port: UInt16, outcomes: Task<[Outcome], any Error>) {
        let listener = try open()
        try withAddress(0) { address, length in
            guard bind(listener, address, length) == 0, listen(listener, 8) == 0 else { throw Failure(description: "listen: \(errno)") }
        }
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        let task = Task {
            try await onThread {
                defer { close(listener) }
                let context = try TLSContext(configuration)
                return try (0..<count).map { _ in
                    let descriptor = accept(listener, nil, nil)
                    guard descriptor >= 0 else { throw Failure(description: "accept: \(errno)") }
                    defer { close(descriptor) }
                    setLimit(descriptor)
                    return run(try TLSEngine(context), descriptor, saying: [], echoing: true, until: { _ in false })
                }
            }
        }
        return (UInt16(bigEndian: address.sin_port), task)
    }

    private static func run(
        _ engine: TLSEngine, _ descriptor: Int32, saying words: [UInt8], echoing: Bool, until isDone: ([UInt8]) -> Bool
    ) -> Outcome {
        var outcome = Outcome()
        var hasSpoken = words.isEmpty
        do throws(TLSError) {
            send(engine, descriptor)
            while !isDone(outcome.plaintext), engine.state != .ended {
                guard let bytes = receive(descriptor) else {
                    try engine.endOfInput()
                    break
                }
                let before = outcome.plaintext.count
                try engine.feed(bytes.span.bytes) { outcome.plaintext += $0.bytes }
                if echoing, outcome.plaintext.count > before { try engine.write(Array(outcome.plaintext[before...])) }
                if engine.state == .open, !hasSpoken {
                    hasSpoken = true
                    try engine.write(words)
                }
                if engine.state == .peerFinished { engine.close() }
                send(engine, descriptor)
            }
            engine.close()
        } catch { outcome.error = error }
        send(engine, descriptor)
        outcome.evidence = engine.evidence
        outcome.isResumed = engine.isResumed
        return outcome
    }

    private static func send(_ engine: TLSEngine, _ descriptor: Int32) {
        let bytes = engine.takePending()
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress?.advanced(by: done), bytes.count - done, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            done += count
        }
    }

    /// Nil when the other side has ended, in whatever way, or says nothing for too long.
    private static func receive(_ descriptor: Int32) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    private static func open() throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "socket: \(errno)") }
        setLimit(descriptor)
        return descriptor
    }

    private static func setLimit(_ descriptor: Int32) {
        var limit = limit
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func withAddress(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) throws -> Void) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = INADDR_LOOPBACK.bigEndian
        try withUnsafePointer(to: &address) { pointer in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { try body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    private static func onThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}
