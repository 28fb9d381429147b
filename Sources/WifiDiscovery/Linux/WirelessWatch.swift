import CLinux
import Glibc
import SocketCore

extension WirelessLink {
    /// The Wi-Fi link now, and again whenever it changes: another access point, another reason for having none. A roam is told
    /// once it has come to rest. Only the newest report is kept for a reader who falls behind.
    public static func reports(on loop: EventLoop = .shared) -> AsyncStream<WirelessReport> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let watcher = WirelessWatcher(loop: loop, continuation)
            continuation.onTermination = { _ in Task(executorPreference: loop) { await watcher.stop() } }
            Task(executorPreference: loop) { await watcher.start() }
        }
    }
}

/// The shell around ``LinkWatch``: hears of associations (nl80211's "mlme" group) and of links (rtnetlink), and reads.
actor WirelessWatcher: NetlinkOwner, LoopTimerOwner {
    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let continuation: AsyncStream<WirelessReport>.Continuation
    private var watch = LinkWatch(now: .zero)
    private var listeners: [NetlinkListener] = []
    private var family: UInt16?
    private var timer: LoopTimer?

    init(loop: EventLoop, _ continuation: AsyncStream<WirelessReport>.Continuation) {
        self.loop = loop
        self.continuation = continuation
    }

    func start() {
        var reading = WirelessReading(LinuxWireless())
        if case .success(let found) = reading.family() {
            family = found.id
            if let group = found.groups[NL80211.associationGroup] { listen(NETLINK_GENERIC, [group]) }
        }
        listen(NETLINK_ROUTE, [RTNLGRP_LINK.rawValue])
        timer = LoopTimer(on: loop, owner: self)
        watch = LinkWatch(now: loop.currentInstant)
        read(now: loop.currentInstant)
    }

    /// Without a listener the routine readings still find every change, only later.
    private func listen(_ protocolNumber: Int32, _ groups: [UInt32]) {
        if let listener = try? NetlinkListener(on: loop, protocolNumber: protocolNumber, groups: groups, owner: self) {
            listeners.append(listener)
        }
    }

    func stop() {
        timer?.cancel()
        timer = nil
        for listener in listeners { listener.close() }
        listeners = []
    }

    nonisolated func netlinkArrived(_ listener: NetlinkListener, _ bytes: RawSpan) {
        let datagram = bytes.withUnsafeBytes { Array($0) }
        assumeIsolated { $0.heard(datagram) }
    }

    nonisolated func netlinkLost(_ listener: NetlinkListener, _ error: SystemError) { assumeIsolated { $0.notice() } }

    nonisolated func timerFired(at now: Instant) { assumeIsolated { $0.read(now: now) } }

    private func heard(_ datagram: [UInt8]) {
        let links: Set<UInt16> = [UInt16(RTM_NEWLINK), UInt16(RTM_DELLINK)]
        let isNews = NetlinkMessage.all(in: datagram).contains { message in
            links.contains(message.type) || family.map { AssociationEvent(message, family: $0) != nil } ?? false
        }
        if isNews { notice() }
    }

    private func notice() {
        watch.noticed(now: loop.currentInstant)
        timer?.set(to: watch.deadline)
    }

    private func read(now: Instant) {
        guard let timer else { return }
        if let news = watch.read(WirelessLink.read(), now: now) { continuation.yield(news) }
        timer.set(to: watch.deadline)
    }
}

/// Tells when interfaces, addresses or default routes may have changed.
public enum NetworkChanges {
    /// One element for any number of changes since the last one was taken; what changed is to be read anew.
    ///
    /// Ends at once where the kernel gives no such messages.
    public static func stream(on loop: EventLoop = .shared) -> AsyncStream<Void> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let watcher = NetworkChangeWatcher(loop: loop, continuation)
            continuation.onTermination = { _ in Task(executorPreference: loop) { await watcher.stop() } }
            Task(executorPreference: loop) { await watcher.start() }
        }
    }
}

/// The shell of ``NetworkChanges``.
actor NetworkChangeWatcher: NetlinkOwner {
    private static let groups = [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
    ].map(\.rawValue)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    private let continuation: AsyncStream<Void>.Continuation
    private var listener: NetlinkListener?

    init(loop: EventLoop, _ continuation: AsyncStream<Void>.Continuation) {
        self.loop = loop
        self.continuation = continuation
    }

    func start() {
        listener = try? NetlinkListener(on: loop, protocolNumber: NETLINK_ROUTE, groups: NetworkChangeWatcher.groups, owner: self)
        if listener == nil { continuation.finish() }
    }

    func stop() {
        listener?.close()
        listener = nil
    }

    nonisolated func netlinkArrived(_ listener: NetlinkListener, _ bytes: RawSpan) { continuation.yield() }
    nonisolated func netlinkLost(_ listener: NetlinkListener, _ error: SystemError) { continuation.yield() }
}
