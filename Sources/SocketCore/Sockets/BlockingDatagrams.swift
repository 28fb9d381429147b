import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// A UDP socket for tools that do one thing after another, as ``BlockingStream`` is for TCP: bound to a port of the kernel's choice, no
/// groups joined. Discovery runs on the event loop instead.
public final class BlockingDatagrams {
    private let descriptor: FileDescriptor
    private let source: IPAddress
    private let batch = DatagramBatch()
    /// Received and not yet taken.
    private var waiting: [(bytes: [UInt8], source: Endpoint)] = []

    /// Opens a socket of the address family of `peer`.
    ///
    /// - Throws: ``SystemError``.
    public init(towards peer: IPAddress) throws(SystemError) {
        source = peer.isV4 ? .any : .anyV6
        descriptor = try SystemCalls.socket(peer.isV4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue))
        try SystemCalls.bind(descriptor.number, to: Endpoint(source, port: 0))
    }

    /// Sends one datagram, whole or not at all.
    ///
    /// - Throws: ``SystemError``; a full queue counts as ENOBUFS.
    public func send(_ bytes: [UInt8], to peer: Endpoint) throws(SystemError) {
        let outcome = try SystemCalls.send(descriptor.number, bytes.span.bytes, to: peer, interface: 0, source: source)
        guard case .moved = outcome else { throw SystemError(function: "sendmsg", code: ENOBUFS, subject: peer.description) }
    }

    /// The next datagram, or nil when none comes in time; larger ones than ``UDPSocket/largestDatagram`` are dropped.
    ///
    /// - Throws: ``SystemError``.
    public func receive(within limit: Duration) throws(SystemError) -> (bytes: [UInt8], source: Endpoint)? {
        if waiting.isEmpty, SystemCalls.waitUntilReady(descriptor.number, .readable, within: limit) {
            for index in 0..<(try batch.receive(descriptor.number)) where !batch.isOversize(index) {
                if let source = batch.source(index) { waiting.append((Array(batch.bytes(index)), source)) }
            }
        }
        return waiting.isEmpty ? nil : waiting.removeFirst()
    }
}
