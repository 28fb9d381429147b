import Foundation
import FrameCodec
import Glibc
import SocketCore
import Synchronization

/// A router of blocking calls, whose every byte a test decides: it listens on loopback, and a script runs on a thread of its own.
final class RawPeer: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
        init(text: String) { description = text }
    }

    /// How long a call may take that a test waits for, in seconds: hundreds of tests begin at the same time, and it may take minutes until
    /// the other side of a call has its turn.
    static let patience = 600

    let endpoint: Endpoint
    private let listening: Int32

    /// - Parameter receiveBuffer: bytes that the kernel takes for a connection before its peer must wait.
    init(receiveBuffer: Int32? = nil) throws {
        listening = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard listening >= 0 else { throw Failure("socket") }
        if var receiveBuffer {
            setsockopt(listening, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<Int32>.size))
        }
        var limit = timeval(tv_sec: RawPeer.patience, tv_usec: 0)
        setsockopt(listening, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = listening
        let isOpen = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 64) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isOpen else { throw Failure("listen") }
        endpoint = Endpoint(.loopback, port: UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listening) }

    /// Runs `script` on a thread of its own, where it may block.
    func run<Result: Sendable>(_ script: @Sendable @escaping (RawPeer) throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Swift.Result { try script(self) }) }
        }
    }

    /// The next connection.
    func accept() throws -> RawConnection {
        let descriptor = Glibc.accept(listening, nil, nil)
        guard descriptor >= 0 else { throw Failure("accept") }
        // A child that is being started meanwhile must not keep the connection open.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return RawConnection(descriptor)
    }
}

/// One connection of blocking calls.
final class RawConnection: Sendable {
    enum End: Equatable { case finished, reset, silent }

    private let descriptor: Int32
    private let input = Mutex(Input())

    private struct Input: ~Copyable {
        var decoder = FrameDecoder()
        var waiting: [Frame] = []
    }

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
        setPatience(RawPeer.patience)
    }

    /// A controller's end, at 127.0.0.`host`.
    convenience init(to endpoint: Endpoint, from host: UInt32 = 1) throws {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = (UInt32(0x7F00_0000) | host).bigEndian
        let isBound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 }
        }
        guard isBound else { throw RawPeer.Failure("bind") }
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        address.sin_port = endpoint.port.bigEndian
        let isOpen = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
            }
        }
        guard isOpen else { throw RawPeer.Failure("connect") }
        self.init(descriptor)
    }

    deinit { close(descriptor) }

    func setPatience(_ seconds: Int, microseconds: Int = 0) {
        var limit = timeval(tv_sec: seconds, tv_usec: microseconds)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
    }

    /// Writes all of it.
    func write(_ bytes: [UInt8]) throws {
        guard writeSome(bytes) == bytes.count else { throw RawPeer.Failure("send") }
    }

    /// - Returns: how much the kernel took before the patience was over.
    func writeSome(_ bytes: [UInt8]) -> Int {
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress! + done, bytes.count - done, Int32(MSG_NOSIGNAL)) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            done += count
        }
        return done
    }

    func write(_ frames: Frame...) throws {
        var bytes: [UInt8] = []
        for frame in frames { bytes += try FrameEncoder().encode(frame) }
        try write(bytes)
    }

    /// The next frame, whatever it is; nil at the end of the stream.
    func frame() throws -> Frame? {
        try input.withLock { input in
            while input.waiting.isEmpty {
                var buffer = [UInt8](repeating: 0, count: 4_096)
                let count = recv(descriptor, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                if count == 0 { return nil }
                guard count > 0 else { throw RawPeer.Failure("recv") }
                var found: [Frame] = []
                try input.decoder.decode(buffer.span.bytes.extracting(first: count)) { header, body in
                    found.append(Frame(header, body))
                    return .more
                }
                input.waiting = found
            }
            return input.waiting.removeFirst()
        }
    }

    /// The next message with an id, its receipts and heartbeats left out; nil at the end of the stream.
    func message() throws -> Frame? {
        while let next = try frame() { if next.msgId != 0, !next.body.isEmpty { return next } }
        return nil
    }

    /// Reads so many bytes and throws them away.
    func skip(_ count: Int) throws {
        var left = count
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while left > 0 {
            let got = recv(descriptor, &buffer, min(left, buffer.count), 0)
            if got < 0, errno == EINTR { continue }
            guard got > 0 else { throw RawPeer.Failure("recv") }
            left -= got
        }
    }

    /// Reads until the connection ends, without looking.
    func drain() -> End {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return .finished }
            if count < 0, errno != EINTR { return errno == ECONNRESET ? .reset : .silent }
        }
    }

    /// How many bytes come before the connection ends; throws at more than `limit`.
    func rest(limit: Int) throws -> Int {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var total = 0
        while total <= limit {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count == 0 { return total }
            if count < 0, errno != EINTR { throw RawPeer.Failure("recv") }
            total += max(0, count)
        }
        throw RawPeer.Failure(text: "more than \(limit) bytes")
    }

    /// Reads the controller's hello and answers it.
    @discardableResult
    func greet(received: UInt32 = 0, resumed: Bool? = nil, boot: String = "00000000000000aa") throws -> ControllerHello {
        guard let first = try frame() else { throw RawPeer.Failure(text: "no hello") }
        let hello = try ControllerHello(first.body.span.bytes)
        let identity = RouterIdentity(boot: boot, mac: "02:00:5e:00:53:01")
        let answer = RouterHello(
            session: hello.session, identity: identity, version: 1, received: received, resumed: resumed ?? hello.resume)
        try write(Frame(msgId: 0, body: answer.encoded()))
        return hello
    }

    /// Says a controller's hello and hears the answer.
    @discardableResult
    func hello(_ session: SessionIdentifier, received: UInt32 = 0, resume: Bool = false) throws -> RouterHello {
        try sayHello(session, received: received, resume: resume)
        return try hearHello()
    }

    func sayHello(_ session: SessionIdentifier, received: UInt32 = 0, resume: Bool = false) throws {
        let hello = ControllerHello(session: session, versions: [1], received: received, resume: resume)
        try write(Frame(msgId: 0, body: hello.encoded()))
    }

    @discardableResult
    func hearHello() throws -> RouterHello {
        guard let answer = try frame() else { throw RawPeer.Failure(text: "no answer to the hello") }
        return try RouterHello(answer.body.span.bytes)
    }

    func receipt(_ msgId: UInt32) throws { try write(Frame(msgId: msgId)) }

    /// Resets the connection.
    func reset() {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
        shutdownNow()
    }

    /// Ends our half.
    func finish() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// A connection is reset when its descriptor is closed, which the owner does by letting go of it: until then another one stands in.
    private func shutdownNow() {
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(null, descriptor)
        close(null)
    }
}
