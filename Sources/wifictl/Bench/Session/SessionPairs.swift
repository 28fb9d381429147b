import Glibc
import SocketCore

/// The threads of a run, all on one core.
struct SessionThreads {
    let client: LoopThread
    let server: LoopThread
    let referenceServer: LoopThread
    let clocks: (client: CPUClock, server: CPUClock, referenceServer: CPUClock)

    init() async throws {
        client = try LoopThread("bench-client")
        server = try LoopThread("bench-server")
        referenceServer = try LoopThread("bench-c-server")
        // The last one: others tend to start at the first.
        let core = SystemCalls.allowedCores().last ?? 0
        for thread in [client, server, referenceServer] { await thread.pin(to: core) }
        // Now, as a thread that runs C can't be asked.
        clocks = (try await client.cpuClock(), try await server.cpuClock(), try await referenceServer.cpuClock())
    }

    func stop() { for thread in [client, server, referenceServer] { thread.loop.stop() } }
}

/// Clients and servers in all combinations of ours and C's, connected.
struct SessionPairs {
    enum Kind {
        case reference
        /// A client in C and our router.
        case routerOnly
        /// Our controller and a server in C.
        case controllerOnly
        case sessions

        var serverIsReference: Bool { self == .reference || self == .controllerOnly }
    }

    private(set) var loads: [(kind: Kind, load: any SessionLoad)] = []
    private let server: RouterServer
    private var referenceServer: ReferenceServer?

    init(window: Int, reference: SessionReference?, on threads: SessionThreads) async throws {
        var configuration = SessionConfiguration(role: .router)
        configuration.identity = RouterIdentity(boot: "00000000000000b0", mac: "02:00:5e:00:53:01", name: "Bench", model: "Bench")
        server = RouterServer(on: threads.server)
        let endpoint = try await server.open(configuration)
        let controller = ControllerLoad(to: endpoint, window: window, on: threads.client)
        try await controller.connect()
        loads.append((.sessions, controller))
        guard let reference else { return }
        let session = SessionIdentifier(high: 0xB0, low: UInt64(window))
        let hello = ControllerHello(session: session, versions: [1], received: 0, resume: false, client: "bench")
        let answer = RouterHello(session: session, identity: configuration.identity, version: 1, received: 0, resumed: false)
        let referenceServer = try ReferenceServer(
            reference, on: threads.referenceServer, hello: String(decoding: answer.encoded(), as: UTF8.self))
        self.referenceServer = referenceServer
        let helloText = String(decoding: hello.encoded(), as: UTF8.self)
        for (kind, port) in [(Kind.reference, referenceServer.port), (.routerOnly, endpoint.port)] {
            let load = ReferenceLoad(on: threads.client)
            try await load.connect(reference, to: port, hello: helloText)
            loads.append((kind, load))
        }
        let toReference = ControllerLoad(to: Endpoint(.loopback, port: referenceServer.port), window: window, on: threads.client)
        try await toReference.connect()
        loads.append((.controllerOnly, toReference))
    }

    func close() async {
        for (_, load) in loads { await load.close() }
        await referenceServer?.close()
        await server.close()
    }
}
