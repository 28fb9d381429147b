import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

/// Over which interfaces a router is reached that is to be reached over some only.
struct ServedInterfacesTests {
    private let interfaces = [
        NetworkInterface(
            index: 1, name: "lo", addresses: [.init(.loopback, prefixLength: 8)], flags: [.up, .running, .loopback]),
        NetworkInterface(
            index: 2, name: "eth0",
            addresses: [.init(.v4(192, 0, 2, 1), prefixLength: 24), .init(.v6(high: 0xFE80 << 48, low: 1, scope: 2), prefixLength: 64)],
            flags: [.up, .running, .multicast]),
        NetworkInterface(
            index: 3, name: "eth1", addresses: [.init(.v4(198, 51, 100, 1), prefixLength: 24)], flags: [.up, .running, .multicast]),
    ]

    private func admits(_ names: Set<String>, to local: IPAddress, by interface: UInt32) -> Bool {
        let arrival = StreamArrival(peer: Endpoint(.v4(192, 0, 2, 9), port: 5), local: local, interface: interface)
        return ServedInterfaces(interfaces: interfaces.filter { names.contains($0.name) }).admits(arrival)
    }

    @Test func `what counts is the interface that a connection came by, and not the address that it was made to`() {
        let (own, other) = (IPAddress.v4(192, 0, 2, 1), IPAddress.v4(198, 51, 100, 1))
        #expect(admits(["eth0"], to: own, by: 2) && admits(["eth0"], to: other, by: 2))
        #expect(!admits(["eth0"], to: own, by: 3) && !admits(["lo"], to: .loopback, by: 2) && !admits(["lo"], to: own, by: 2))
        #expect(admits(["lo"], to: .loopback, by: 1) && admits(["eth0", "eth1"], to: other, by: 3))
    }

    @Test func `where the system doesn't tell by which interface, the address decides`() {
        #expect(admits(["eth0"], to: .v4(192, 0, 2, 1), by: 0) && !admits(["eth0"], to: .v4(198, 51, 100, 1), by: 0))
        #expect(!admits(["eth0"], to: .v4(192, 0, 2, 1), by: 9))
    }
}

/// The same over sockets.
struct ServedInterfacesSocketTests {
    @Test func `a router on loopback takes what comes by loopback, and none of it where it serves another interface`() async throws {
        let loopback = try #require(try NetworkInterfaces.current().first { $0.name == "lo" })
        for served in [[loopback], []] {
            let loop = try EventLoop(name: "served")
            let arrivals = AsyncStream.makeStream(of: StreamArrival.self)
            let listener = SessionListener(
                SessionConfiguration(role: .router),
                admits: { arrival in
                    arrivals.continuation.yield(arrival)
                    return ServedInterfaces(interfaces: served).admits(arrival)
                }, loop: loop
            ) { _ in }
            // A listener of each kind that there is: IPv4, and both families at once.
            for address in [IPAddress.loopback, .anyV6] {
                let place = try await listener.open(Endpoint(address, port: 0))
                let session = Session(to: Endpoint(.loopback, port: place.port), loop: loop)
                let events = session.events
                await session.start()
                var arrived = arrivals.stream.makeAsyncIterator()
                let arrival = await arrived.next()
                #expect(arrival?.interface == loopback.index && arrival?.local == .loopback, "\(String(describing: arrival))")
                waiting: for await batch in events {
                    for case .state(let state) in batch {
                        switch state {
                        case .open:
                            #expect(!served.isEmpty)
                            break waiting
                        case .lost:
                            #expect(served.isEmpty)
                            break waiting
                        default: continue
                        }
                    }
                }
                await session.close(.keepForLater)
            }
            await listener.close()
            loop.stop()
        }
    }
}
