import Glibc
import SocketCore
import WifiDiscovery

/// The routers of one `wifictl router`, from start to end.
struct RouterRun {
    let fleet: RouterFleet
    let responder: RouterResponder
    let log: RouterLog
    private(set) var routers: [SimulatedRouter] = []

    init(_ fleet: RouterFleet, _ options: RouterResponder.Options, _ log: RouterLog) {
        self.fleet = fleet
        self.log = log
        responder = RouterResponder(options) { source, outcome in log.probe(source, outcome) }
    }

    /// Opens the discovery port, then starts one router after the other.
    mutating func start(_ cancellation: CancellationSignal) async throws {
        try await responder.open()
        for (name, reason) in await responder.failedInterfaces.sorted(by: { $0.key < $1.key }) {
            log.output.detail("not answering there: \(ResponderError.clause(name, reason))")
        }
        for index in 0..<fleet.count where !cancellation.isRaised { routers.append(try await start(fleet.options(index))) }
        if await responder.sharesPort {
            log.output.remark(
                "another router of this machine answers on this UDP port, too: probes to the group reach both, those to an address one "
                    + "(--count runs several in one process, --port moves this one)")
        }
    }

    private func start(_ wanted: SimulatedRouter.Options) async throws -> SimulatedRouter {
        var options = wanted
        while true {
            do {
                return try await open(options)
            } catch let error as SystemError {
                if error.code == EAFNOSUPPORT, options.endpoint.address == .anyV6 {
                    // A kernel without IPv6.
                    options.endpoint.address = .any
                } else if [EADDRINUSE, EACCES].contains(error.code), options.endpoint.port != 0, fleet.mayMove {
                    if fleet.count == 1 { log.output.remark("TCP \(options.endpoint.port) is taken: listening on another port") }
                    options.endpoint.port = 0
                } else {
                    throw RouterRun.explained(error, options.endpoint)
                }
            }
        }
    }

    private func open(_ options: SimulatedRouter.Options) async throws -> SimulatedRouter {
        let mac = options.description.mac
        let log = log
        let router = SimulatedRouter(options, responder: responder) { log.event(mac, $0) }
        try await router.start()
        return router
    }

    private static func explained(_ error: SystemError, _ endpoint: Endpoint) -> ToolError {
        let place = endpoint.address.isUnspecified ? "" : " on \(endpoint.address.text)"
        let hint =
            switch error.code {
            case EADDRINUSE: "another wifictl router? see --tcp"
            case EADDRNOTAVAIL: "no address of this machine? see ip address"
            case EACCES: "ports below 1024 are root's; see --tcp"
            case EMFILE: "see ulimit -n, and --count"
            default: "see --tcp and --address"
            }
        let reason = error.code == EADDRINUSE ? "address in use" : error.reason
        return ToolError("cannot bind TCP \(endpoint.port)\(place): \(reason)", hint: hint)
    }

    /// Goodbyes and the orderly end of all sessions.
    func end() async {
        await withDiscardingTaskGroup { group in
            for router in routers { group.addTask { await router.stop() } }
        }
        await responder.close()
    }

    /// What was counted.
    func report() async { log.summary(await responder.counters, sendFailures: await responder.sendFailures) }
}
