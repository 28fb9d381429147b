import SocketCore

/// Finds the routers of this LAN (protocol.md, sections 4 and 5).
///
///     let discovery = try RouterDiscovery()
///     for try await router in discovery.routers(for: .seconds(3)) { print(router.name, router.mac, router.grade) }
public struct RouterDiscovery: Sendable {
    /// Which access point the user is connected to.
    public enum Link: Sendable, Equatable {
        /// What the kernel says.
        case automatic
        /// These BSSIDs; none means that it isn't known.
        case addresses(Set<MACAddress>)
    }

    /// Where and how to look.
    public struct Options: Sendable {
        /// Interfaces by name; empty means every usable one, and this machine alone where there's none.
        public var interfaces: [String] = []
        /// What the routers are graded against.
        public var link = Link.automatic
        /// The group of the interfaces' IPv4 or IPv6 sockets; nil for both of the protocol's.
        public var group: IPAddress?
        /// Where routers listen.
        public var port = DiscoveryDatagram.port
        /// Ask these instead of the group.
        public var targets: [Endpoint] = []
        /// Only this router is asked to answer, and its answer ends the scan.
        public var mac: MACAddress?
        /// Whether a scan for ``mac`` goes on after the first answer: a clone may have been faster than the router.
        public var hearsEverybody = false
        /// Routers known from earlier: where a flood of forged replies leaves too little room, those in their name are kept. Told to nobody.
        public var expected: Set<MACAddress> = []
        /// The span over which routers spread their replies, in milliseconds, 0 to 2,000; grows by itself where hundreds answer. 0 measures
        /// a single router's round trip.
        public var maxWaitMilliseconds = 100
        /// Whether a router that is on the link, or that is the one in ``mac``, ends the scan.
        public var endsAtMatch = false

        /// Everything that can be found.
        public init() {}
    }

    /// Where and how to look.
    public let options: Options
    let loop: EventLoop

    /// A discovery on the given loop.
    ///
    /// - Throws: ``DiscoveryError`` when an interface that was named doesn't exist.
    public init(_ options: Options = Options(), loop: EventLoop = .shared) throws {
        self.options = options
        self.loop = loop
        _ = try ScanInterfaces.choose(options.interfaces)
    }

    /// Routers as they're found, each once, until the time is over.
    public func routers(for duration: Duration) -> AsyncThrowingStream<FoundRouter, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task(executorPreference: loop) {
                do {
                    for try await event in events(for: duration) { if case .found(let router) = event { continuation.yield(router) } }
                    continuation.finish()
                } catch { continuation.finish(throwing: error) }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Everything that a scan has to say; `duration` nil watches until the reader stops.
    ///
    /// Bounded by what a scan keeps: a reader who falls behind by more than that loses the oldest events, never the result.
    public func events(for duration: Duration?) -> AsyncThrowingStream<ScanEvent, any Error> {
        begin(for: duration).events
    }

    /// ``events(for:)`` with a way to end it early and still hear the result.
    public func begin(for duration: Duration?) -> RunningScan {
        let (events, continuation) = AsyncThrowingStream.makeStream(
            of: ScanEvent.self, throwing: (any Error).self, bufferingPolicy: .bufferingNewest(DiscoveryBounds.replies))
        let scan = DiscoveryScan(options, duration: duration, loop: loop, continuation)
        continuation.onTermination = { _ in Task(executorPreference: scan.loop) { await scan.stop() } }
        Task(executorPreference: loop) { await scan.start() }
        return RunningScan(events: events, scan: scan)
    }

    /// Scans and gives the result.
    ///
    /// - Throws: ``DiscoveryError``; a failing interface alone is no reason, it's named in the result.
    public func scan(for duration: Duration) async throws -> ScanResult {
        for try await event in events(for: duration) { if case .finished(let result) = event { return result } }
        throw CancellationError()
    }
}

/// A scan under way.
public struct RunningScan: Sendable {
    /// What it says, the result last. For one reader.
    public let events: AsyncThrowingStream<ScanEvent, any Error>
    let scan: DiscoveryScan

    /// Ends it early; the result is told.
    public func stop() { Task(executorPreference: scan.loop) { await scan.stop() } }
}

/// Why a scan can't be made at all.
public enum DiscoveryError: Error, Equatable, Sendable, CustomStringConvertible {
    /// An interface that was named isn't there.
    case noSuchInterface(String, known: [String])
    /// No interface could be opened; the reasons.
    case nothingToScan([String: String])
    /// The interfaces can't be listed.
    case system(SystemError)

    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .noSuchInterface(let name, let known):
            return "there is no interface \(name) (there are: \(known.joined(separator: ", ")))"
        case .nothingToScan(let reasons):
            let list = reasons.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
            return "no interface can be scanned (\(list.isEmpty ? "there is none" : list))"
        case .system(let error): return "cannot list the interfaces: \(error)"
        }
    }
}
