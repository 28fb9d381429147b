import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// Whoever uses a UDP socket; called on the loop's thread.
public protocol DatagramOwner: AnyObject, Sendable {
    /// One datagram came in; `bytes` is lent for the duration of the call. `interface` is the index of the interface that it arrived
    /// by (0: unknown). A datagram longer than ``UDPSocket/largestDatagram`` comes empty, with `isOversize` true.
    func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool)
    /// The kernel reported an error for the socket (an ICMP answer to an earlier send, an interface that went down); it goes on.
    func socketReported(_ socket: UDPSocket, _ error: SystemError)
}

/// A UDP socket on the loop, confined to the loop's thread.
public final class UDPSocket: ReadinessHandler {
    /// What one Ethernet frame carries over IPv4; anything longer isn't ours (protocol.md, section 4).
    public static let largestDatagram = 1_472
    /// Datagrams taken in one system call, and calls a tick.
    private static let batchesPerTick = 8
    /// Room for the answers of a thousand routers within one spread; the kernel caps it at net.core.rmem_max.
    private static let receiveBuffer: Int32 = 4 << 20

    /// The loop that it runs on.
    public let loop: EventLoop
    /// Where it's bound.
    public let local: Endpoint
    /// The interface that it was made for; 0 for none.
    public let interface: UInt32
    /// Set to nil to hear nothing more.
    public var owner: (any DatagramOwner)?

    private var descriptor: FileDescriptor?
    private var token: PollToken?
    private let number: Int32

    /// How a socket is opened.
    public struct Options: Sendable {
        /// Several sockets of this machine may share the port: for listening to a group.
        public var sharesPort = false
        /// May send to broadcast addresses.
        public var allowsBroadcast = false
        /// The interface that it serves: multicast leaves by it. 0: the routing table's choice.
        public var interface: UInt32 = 0

        /// All off.
        public init() {}
    }

    /// Opens, binds and registers a socket; on the loop's thread.
    ///
    /// - Throws: ``SystemError`` that names what it couldn't bind to.
    public init(on loop: EventLoop, bind endpoint: Endpoint, options: Options = Options(), owner: any DatagramOwner) throws(SystemError) {
        let isV4 = endpoint.address.isV4
        let descriptor = try SystemCalls.socket(isV4 ? AF_INET : AF_INET6, Int32(SOCK_DGRAM.rawValue))
        let number = descriptor.number
        // SO_REUSEADDR alone: with SO_REUSEPORT the kernel would deal unicast out among the sockets.
        if options.sharesPort { try SystemCalls.setOption(number, SOL_SOCKET, SO_REUSEADDR, 1) }
        if options.allowsBroadcast { try SystemCalls.setOption(number, SOL_SOCKET, SO_BROADCAST, 1) }
        try SystemCalls.setOption(number, SOL_SOCKET, SO_RCVBUF, UDPSocket.receiveBuffer)
        try Multicast.prepare(number, isV4: isV4, interface: options.interface)
        try SystemCalls.bind(number, to: endpoint)
        self.loop = loop
        self.number = number
        self.owner = owner
        interface = options.interface
        local = try SystemCalls.localEndpoint(number)
        self.descriptor = consume descriptor
        token = try loop.add(number, interest: .readable, handler: self)
    }

    /// Joins a group on one interface.
    ///
    /// - Throws: ``SystemError`` about the group.
    public func join(_ group: IPAddress, interface: UInt32) throws(SystemError) {
        try Multicast.join(number, group, interface: interface)
    }

    /// Sends one datagram, whole or not at all; `source` names one of the machine's addresses where the socket is bound to all.
    ///
    /// - Throws: ``SystemError``; would-block (the interface's queue is full) counts as ENOBUFS, since datagrams aren't kept.
    public func send(_ bytes: RawSpan, to endpoint: Endpoint, interface: UInt32 = 0, source: IPAddress? = nil) throws(SystemError) {
        guard descriptor != nil else { throw SystemError(function: "sendmsg", code: EBADF, subject: endpoint.description) }
        let outcome = try SystemCalls.send(
            number, bytes, to: endpoint, interface: interface == 0 ? self.interface : interface, source: source ?? local.address)
        guard case .moved = outcome else { throw SystemError(function: "sendmsg", code: ENOBUFS, subject: endpoint.description) }
    }

    /// Closes it; the owner isn't called any more.
    public func close() {
        if let token { loop.remove(token) }
        token = nil
        owner = nil
        descriptor = nil
    }

    func ready(_ readiness: Readiness) {
        let batch = loop.datagrams
        for _ in 0..<UDPSocket.batchesPerTick {
            guard token != nil else { return }
            do throws(SystemError) {
                let count = try batch.receive(number)
                for index in 0..<count { deliver(batch, index) }
                if count < DatagramBatch.capacity { return }
            } catch {
                owner?.socketReported(self, error)
                return
            }
        }
    }

    private func deliver(_ batch: DatagramBatch, _ index: Int) {
        guard let source = batch.source(index) else { return }
        let isOversize = batch.isOversize(index)
        owner?.datagramArrived(
            self, isOversize ? RawSpan() : batch.bytes(index).bytes, from: source, interface: batch.interface(index), isOversize: isOversize
        )
    }
}
