import SocketCore

/// Finds other people's routers in their own dialects, beside ``RouterDiscovery``.
///
///     let dialects = DialectDiscovery()
///     for try await event in dialects.events(for: .seconds(3)) { if case .found(let device) = event { print(device.name) } }
public struct DialectDiscovery: Sendable {
    /// Where and how to look.
    public struct Options: Sendable {
        /// Which dialects; ``Dialect/native`` among them is passed over.
        public var dialects: Set<Dialect> = Set(Dialect.allCases)
        /// Interfaces by name; empty means every usable one.
        public var interfaces: [String] = []
        /// What the devices are graded against.
        public var link = RouterDiscovery.Link.automatic
        /// Ask these instead of everybody.
        public var targets: [IPAddress] = []

        /// Everything that can be found.
        public init() {}
    }

    /// Where and how to look.
    public let options: Options
    let loop: EventLoop

    /// A discovery on the given loop.
    public init(_ options: Options = Options(), loop: EventLoop = .shared) {
        self.options = options
        self.loop = loop
    }

    /// Devices as they're found and change; `duration` nil watches until the reader stops.
    ///
    /// The stream fails with ``DiscoveryError`` when no interface can be used.
    public func events(for duration: Duration?) -> AsyncThrowingStream<DialectEvent, any Error> { begin(for: duration).events }

    /// ``events(for:)`` with a way to end it early and still hear the result.
    public func begin(for duration: Duration?) -> RunningDialectScan {
        let (events, continuation) = AsyncThrowingStream.makeStream(
            of: DialectEvent.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(DiscoveryBounds.replies))
        let scan = DialectScan(options, duration: duration, loop: loop, continuation)
        continuation.onTermination = { _ in Task(executorPreference: scan.loop) { await scan.stop() } }
        Task(executorPreference: loop) { await scan.start() }
        return RunningDialectScan(events: events, scan: scan)
    }

    /// Scans and gives the result.
    ///
    /// - Throws: ``DiscoveryError``; a failing interface or dialect alone is no reason, it's named in the result.
    public func scan(for duration: Duration) async throws -> DialectResult {
        for try await event in events(for: duration) { if case .finished(let result) = event { return result } }
        throw CancellationError()
    }
}

/// A scan of foreign dialects under way.
public struct RunningDialectScan: Sendable {
    /// What it says, the result last. For one reader.
    public let events: AsyncThrowingStream<DialectEvent, any Error>
    let scan: DialectScan

    /// Ends it early; the result is told.
    public func stop() { Task(executorPreference: scan.loop) { await scan.stop() } }
}

/// A device that a scan found, graded against the Wi-Fi link and with what the system knows about it.
public struct FoundDevice: Equatable, Sendable {
    /// What the dialects say.
    public var device: DialectDevice
    /// Its relation to the Wi-Fi link (protocol.md, section 5).
    public var grading: Grading
    /// What the system knows about its source.
    public var evidence: Evidence
    /// The name of the interface that it answered by.
    public var interface: String

    /// The name for people; its MAC or address when it has none.
    public var name: String { device.name.isEmpty ? device.mac?.description ?? "\(device.address)" : device.name }
}

/// What a scan of foreign dialects tells while it runs.
public enum DialectEvent: Sendable {
    /// A device that wasn't known. Its longer description may come later, as an update.
    case found(FoundDevice)
    /// It says something else or more, answers in another dialect or at another place, or has become one with another row.
    case updated(FoundDevice)
    /// It said goodbye, fell silent, or its only interface went; only while watching.
    case lost(FoundDevice, DiscoveryEvent.Loss)
    /// The link that devices are graded against, when a watch begins and whenever it changes: all known devices, graded anew.
    case graded([FoundDevice], link: Set<MACAddress>, unknown: WirelessUnknown?)
    /// Nothing comes after it.
    case finished(DialectResult)
}

/// What a scan of foreign dialects came to.
public struct DialectResult: Sendable {
    /// All devices in the order in which they were found.
    public var devices: [FoundDevice]
    /// Datagrams that were no answer in the dialect of their socket, or came from elsewhere than the link.
    public var ignored: Int
    /// Dialects and descriptions that couldn't be used, with the reason.
    public var failures: [String: String]
    /// Interfaces that couldn't be used, with the reason.
    public var failedInterfaces: [String: String]
    /// The interfaces that were scanned, by name.
    public var interfaces: [String]
    /// The link that devices were graded against; empty when unknown.
    public var link: Set<MACAddress>
    /// Why the kernel didn't tell the link; nil when it did or wasn't asked.
    public var linkUnknown: WirelessUnknown?
}
