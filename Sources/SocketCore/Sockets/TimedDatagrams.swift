import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// A UDP socket for measuring how long an answer takes: when a datagram came in is the kernel's word, so that what this process, or the
/// machine, was busy with meanwhile isn't counted. Blocking, as ``BlockingDatagrams`` is; bound to a port of the kernel's choice.
public final class TimedDatagrams {
    /// A stamp older than this is none: the time of day was set while the datagram lay there.
    private static let oldest = Duration.seconds(10)

    /// One datagram that came in.
    public struct Arrival: Sendable {
        /// Its bytes.
        public var bytes: [UInt8]
        /// Where it came from.
        public var source: Endpoint
        /// When the kernel had it.
        public var at: Instant
    }

    /// The port that answers come to.
    public let port: UInt16
    private let descriptor: FileDescriptor
    private let source: IPAddress
    private let interface: UInt32
    private let batch = DatagramBatch()

    /// Opens a socket of the address family of `peer`.
    ///
    /// - Parameters:
    ///   - peer: whom to ask: an address or a group.
    ///   - interface: the index of the interface that is asked through; 0 leaves it to the routing table.
    ///   - own: the address of this machine to ask from; nil leaves it to the system, which has a hand of its own for groups.
    /// - Throws: ``SystemError``.
    public init(towards peer: IPAddress, interface: UInt32, from own: IPAddress? = nil) throws(SystemError) {
        source = own ?? (peer.isV4 ? .any : .anyV6)
        self.interface = interface
        descriptor = try SystemCalls.socket(peer.isV4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue))
        try Multicast.prepare(descriptor.number, isV4: peer.isV4, interface: interface)
        #if canImport(CLinux)
            try SystemCalls.setOption(descriptor.number, SOL_SOCKET, clinux_stamp_option(), 1)
        #endif
        try SystemCalls.bind(descriptor.number, to: Endpoint(source, port: 0))
        port = try SystemCalls.localEndpoint(descriptor.number).port
    }

    /// Sends one datagram, whole or not at all.
    ///
    /// - Parameters:
    ///   - bytes: its content.
    ///   - peer: where to.
    /// - Returns: when it was given to the kernel.
    /// - Throws: ``SystemError``; a full queue counts as ENOBUFS.
    public func send(_ bytes: [UInt8], to peer: Endpoint) throws(SystemError) -> Instant {
        let now = SystemCalls.monotonicNow()
        let outcome = try SystemCalls.send(descriptor.number, bytes.span.bytes, to: peer, interface: interface, source: source)
        guard case .moved = outcome else { throw SystemError(function: "sendmsg", code: ENOBUFS, subject: peer.description) }
        return now
    }

    /// Those that have come, as soon as there is one; none when the time is over.
    ///
    /// - Parameter limit: how long to wait.
    /// - Throws: ``SystemError``, such as an ICMP answer to something sent.
    public func receive(within limit: Duration) throws(SystemError) -> [Arrival] {
        guard SystemCalls.waitUntilReady(descriptor.number, .readable, within: limit) else { return [] }
        let count = try batch.receive(descriptor.number)
        // In this order: what lies between the two readings makes an answer later, never one that came before its question.
        let today = TimedDatagrams.today()
        let now = SystemCalls.monotonicNow()
        return (0..<count).compactMap { index in
            guard !batch.isOversize(index), let source = batch.source(index) else { return nil }
            let age = batch.arrival(index).map { Duration.nanoseconds(today - $0) } ?? .zero
            let isSound = age > .zero && age < TimedDatagrams.oldest
            let at = isSound ? Instant(nanoseconds: now.nanoseconds - age.inNanoseconds) : now
            return Arrival(bytes: Array(batch.bytes(index)), source: source, at: at)
        }
    }

    /// The system's time of day, which the kernel's stamps are in.
    private static func today() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
