import SocketCore
import Synchronization
import TestSupport
import Testing

@testable import WifiDiscovery

/// What a router's application took.
private final class Heard: Sendable {
    private let texts = Mutex<[String]>([])
    func add(_ body: [UInt8]) { texts.withLock { $0.append(String(decoding: body, as: UTF8.self)) } }
    var all: [String] { texts.withLock { $0 } }
}

/// One simulated router on loopback, at a port of its own.
private final class OneRouter: Sendable {
    static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)

    let port: UInt16
    let router: SimulatedRouter
    let heard = Heard()
    private let responder: RouterResponder

    init() async throws {
        port = UInt16(try FreePort.next())
        var options = RouterResponder.Options()
        options.interfaces = ["lo"]
        options.address = .loopback
        options.port = port
        responder = RouterResponder(options)
        let description = RouterDescription(
            mac: Self.mac, name: "Attic", vendor: "Example", model: "AX-2", firmware: "1.4.2",
            radios: [RouterDescription.Radio(bssid: MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x11), ssid: "Home", band: "5")])
        let log = heard
        router = SimulatedRouter(SimulatedRouter.Options(description, listen: Endpoint(.loopback, port: 0)), responder: responder) {
            if case .message(_, let message) = $0 { log.add(message.body) }
        }
        try await responder.open()
        try await router.start()
    }

    func stop() async {
        await router.stop()
        await responder.close()
    }

    func manager(home: String? = nil, _ news: ManagerNews) -> RouterManager {
        var options = RouterManager.Options()
        options.discovery.interfaces = ["lo"]
        options.discovery.port = port
        options.discovery.link = .addresses([MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x11)])
        options.home = home
        options.session.timing.reconnect.base = .milliseconds(20)
        return RouterManager(options, onEvent: { news.add($1) })
    }
}

/// What a manager's sessions told.
private final class ManagerNews: Sendable {
    private let stream: AsyncStream<SessionEvent>
    private let continuation: AsyncStream<SessionEvent>.Continuation
    init() { (stream, continuation) = AsyncStream.makeStream() }
    func add(_ event: SessionEvent) { continuation.yield(event) }
    /// The events up to the first that satisfies `isLast`; the test's time limit is the deadline.
    func until(_ isLast: (SessionEvent) -> Bool) async -> [SessionEvent] {
        var found: [SessionEvent] = []
        for await event in stream {
            found.append(event)
            if isLast(event) { break }
        }
        return found
    }
    /// Up to a message of the router that contains `text`.
    func message(_ text: String) async -> [SessionEvent] {
        await until { event in
            guard case .message(let message) = event else { return false }
            return String(decoding: message.body, as: UTF8.self).contains(text)
        }
    }
}

@Suite("A manager's life in the background", .timeLimit(.minutes(10)))
struct BackgroundTests {
    @Test func `suspended and back: a router that has moved is found again, and the session goes on, requests and changes with it`()
        async throws
    {
        let network = try await OneRouter()
        let news = ManagerNews()
        let manager = network.manager(news)
        let connection = try await manager.connect()
        let session = connection.session
        let changes = try await connection.subscribe(to: ["wifi.ssid"])
        #expect(try await connection.get("wifi.ssid") == "Home")
        await manager.suspend()
        #expect(await session.isSuspended)
        // Away, it can be given messages and asked things; the router changes, and gets another port.
        let sent = try await session.post(Array("said in the background".utf8))
        async let asked = connection.get("wifi.ssid")
        let moved = try await network.router.move(to: Endpoint(.loopback, port: 0))
        await network.router.change("wifi.ssid", to: "Moved")
        #expect(try await manager.resume() === connection)
        #expect(try await asked == "Moved")
        #expect(await session.peer?.port == moved.port)
        // The value before may have been told by then, in a batch of its own.
        for await change in changes where change.values.map(\.value) != ["Home"] {
            #expect(change.values.map(\.value) == ["Moved"])
            break
        }
        let events = await news.until { if case .outcome(let outcome) = $0 { outcome.ticket == sent } else { false } }
        guard case .outcome(let outcome) = events.last else { return }
        #expect(outcome.result == .delivered && outcome.sends == 1)
        #expect(await session.counters.openings == 2, "one connection before, one after")
        #expect(network.heard.all.count { $0 == "said in the background" } == 1)
        await manager.close()
        await network.stop()
    }

    @Test func `launched again after its end, it restores router, session and what was under way, and hears what it missed`() async throws {
        let network = try await OneRouter()
        let home = try TemporaryDirectory()
        let identifier: SessionIdentifier
        do {
            let manager = network.manager(home: home.path, ManagerNews())
            let connection = try await manager.connect()
            _ = try await connection.subscribe(to: ["wifi.ssid"])
            identifier = connection.session.identifier
            await manager.suspend()
            for number in 1...20 { _ = try await connection.session.post(Array("under way \(number)".utf8)) }
            // The process ends here; that it may be by SIGKILL is tested with processes.
            await manager.close()
        }
        await network.router.change("wifi.ssid", to: "While you were away")
        try await network.router.move(to: Endpoint(.loopback, port: 0))
        let news = ManagerNews()
        let manager = network.manager(home: home.path, news)
        let connection = try #require(try await manager.restore())
        #expect(connection.mac == OneRouter.mac && connection.session.identifier == identifier)
        try await connection.opened()
        let events = await news.message("While you were away")
        #expect(events.contains { if case .state(.resumed) = $0 { true } else { false } })
        await connection.session.settled()
        #expect(network.heard.all.filter { $0.hasPrefix("under way") } == (1...20).map { "under way \($0)" })
        #expect(try await manager.restore() === connection, "it's restored already")
        await manager.close()
        await network.stop()
    }

    @Test func `a router that can't be found is dialled where it was, until it's there; nothing kept is nothing restored`() async throws {
        let network = try await OneRouter()
        let home = try TemporaryDirectory()
        #expect(try await network.manager(home: home.path, ManagerNews()).restore() == nil)
        #expect(try await network.manager(ManagerNews()).restore() == nil)
        let first = network.manager(home: home.path, ManagerNews())
        try await first.connect()
        await first.close()
        await network.stop()
        let news = ManagerNews()
        let manager = network.manager(home: home.path, news)
        let connection = try #require(try await manager.restore())
        _ = try await connection.session.post(Array("later".utf8))
        _ = await news.until { if case .state(.reconnecting) = $0 { true } else { false } }
        #expect(await connection.session.pendingMessages == 1)
        await manager.close()
    }
}
