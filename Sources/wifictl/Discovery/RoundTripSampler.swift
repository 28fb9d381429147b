import SocketCore
import WifiDiscovery

/// Measures round trips: a probe to one router alone, which it answers at once.
struct RoundTripSampler: Sendable {
    /// Longer is no answer: on a LAN a router is there within a tenth of it, or not at all.
    static let patience = Duration.milliseconds(900)

    private let options: RouterDiscovery.Options

    /// - Parameter options: where to look.
    init(_ options: RouterDiscovery.Options) {
        var options = options
        options.link = .addresses([])
        options.maxWaitMilliseconds = 0
        self.options = options
    }

    /// The time from the probe to the answer; nil when none came.
    ///
    /// - Throws: `DiscoveryError` when no probe can be sent at all.
    func sample(_ router: FoundRouter) async throws -> Duration? {
        var options = options
        options.mac = router.mac
        // Several processes may be routers on this machine: a datagram to one address reaches one of them, the group all.
        if !router.discovered.address.isLoopback { options.targets = [Endpoint(router.discovered.address, port: options.port)] }
        return try await RouterDiscovery(options).scan(for: RoundTripSampler.patience).routers.first?.discovered.roundTrip
    }

    /// Several routers side by side; in the order given.
    func sample(_ routers: [FoundRouter]) async -> [(mac: MACAddress, roundTrip: Duration?)] {
        await withTaskGroup(of: (Int, Duration?).self) { group in
            for (index, router) in routers.enumerated() {
                // A network that has gone answers nothing either.
                group.addTask { (index, (try? await sample(router)) ?? nil) }
            }
            var trips: [Duration?] = Array(repeating: nil, count: routers.count)
            for await (index, trip) in group { trips[index] = trip }
            return routers.indices.map { (routers[$0].mac, trips[$0]) }
        }
    }
}
