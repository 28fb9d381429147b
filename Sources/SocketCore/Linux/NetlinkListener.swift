import Glibc

/// Whoever hears the kernel's own messages; called on the loop's thread.
public protocol NetlinkOwner: AnyObject, Sendable {
    /// One datagram, lent for the duration of the call.
    func netlinkArrived(_ listener: NetlinkListener, _ bytes: RawSpan)
    /// Messages were lost (the queue was full) or couldn't be read: whatever they would have told must be asked for.
    func netlinkLost(_ listener: NetlinkListener, _ error: SystemError)
}

/// Netlink multicast messages on the loop, such as those about links, addresses and associations. Confined to the loop's thread.
public final class NetlinkListener: ReadinessHandler {
    /// Datagrams taken in one tick: a storm of messages mustn't keep the sockets waiting.
    private static let readsPerTick = 16

    /// Set to nil to hear nothing more.
    public var owner: (any NetlinkOwner)?

    private let loop: EventLoop
    private var descriptor: FileDescriptor?
    private var token: PollToken?

    /// Opens a socket and joins the groups, by number; on the loop's thread.
    ///
    /// - Throws: ``SystemError``.
    public init(on loop: EventLoop, protocolNumber: Int32, groups: [UInt32], owner: any NetlinkOwner) throws(SystemError) {
        let descriptor = try SystemCalls.netlinkListener(protocolNumber: protocolNumber, groups: groups)
        let number = descriptor.number
        self.loop = loop
        self.owner = owner
        self.descriptor = consume descriptor
        token = try loop.add(number, interest: .readable, handler: self)
    }

    /// Closes it; the owner isn't called any more.
    public func close() {
        if let token { loop.remove(token) }
        token = nil
        owner = nil
        descriptor = nil
    }

    func ready(_ readiness: Readiness) {
        for _ in 0..<NetlinkListener.readsPerTick {
            guard let number = descriptor?.number else { return }
            do throws(SystemError) {
                guard case .moved(let count) = try SystemCalls.receive(number, into: loop.readBuffer) else { return }
                owner?.netlinkArrived(self, UnsafeRawBufferPointer(rebasing: loop.readBuffer[..<count]).bytes)
            } catch {
                owner?.netlinkLost(self, error)
                return
            }
        }
    }
}
