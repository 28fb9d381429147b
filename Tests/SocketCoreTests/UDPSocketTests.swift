import Glibc
import Testing

@testable import SocketCore

@Suite("UDP over loopback", .timeLimit(.minutes(10)))
struct UDPSocketTests {
    struct Arrival: Sendable, Equatable {
        let bytes: [UInt8]
        let source: Endpoint
        let interface: UInt32
        let isOversize: Bool
    }

    /// Two sockets on one loop; what arrives is written down.
    actor Pair: DatagramOwner {
        nonisolated let loop: EventLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
        nonisolated let arrivals = Happenings<Arrival>()
        private var sockets: [UDPSocket] = []

        init() throws { loop = try EventLoop(name: "test-loop") }
        deinit { loop.stop() }

        /// Opens a socket and gives its address.
        func open(_ endpoint: Endpoint, group: IPAddress? = nil, interface: UInt32 = 0) throws -> Endpoint {
            var options = UDPSocket.Options()
            options.sharesPort = group != nil
            options.interface = interface
            let socket = try UDPSocket(on: loop, bind: endpoint, options: options, owner: self)
            if let group { try socket.join(group, interface: interface) }
            sockets.append(socket)
            return socket.local
        }

        func send(_ bytes: [UInt8], from index: Int, to endpoint: Endpoint) throws {
            try sockets[index].send(bytes.span.bytes, to: endpoint)
        }

        nonisolated func datagramArrived(
            _ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool
        ) {
            arrivals.add(
                Arrival(bytes: bytes.withUnsafeBytes { [UInt8]($0) }, source: source, interface: interface, isOversize: isOversize))
        }
        nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}
    }

    let loopbackIndex = if_nametoindex("lo")

    @Test("a datagram arrives whole, with its source and the interface that it came by", arguments: ["127.0.0.1", "::1"])
    func unicast(address: String) async throws {
        let pair = try Pair()
        let address = try #require(IPAddress(address))
        let here = try await pair.open(Endpoint(address, port: 0))
        let there = try await pair.open(Endpoint(address, port: 0))
        try await pair.send([1, 2, 3], from: 0, to: there)
        #expect(await pair.arrivals.next() == Arrival(bytes: [1, 2, 3], source: here, interface: loopbackIndex, isOversize: false))
    }

    @Test("a datagram of the largest size arrives; one byte more is oversize and comes empty; an empty one comes")
    func sizes() async throws {
        let pair = try Pair()
        _ = try await pair.open(Endpoint(.loopback, port: 0))
        let there = try await pair.open(Endpoint(.loopback, port: 0))
        let largest = [UInt8](repeating: 9, count: UDPSocket.largestDatagram)
        try await pair.send(largest, from: 0, to: there)
        try await pair.send(largest + [9], from: 0, to: there)
        try await pair.send([], from: 0, to: there)
        #expect(await pair.arrivals.next()?.bytes == largest)
        let over = await pair.arrivals.next()
        #expect(over?.bytes == [] && over?.isOversize == true)
        let empty = await pair.arrivals.next()
        #expect(empty?.bytes == [] && empty?.isOversize == false)
    }

    // IPv6 groups need a route that lo doesn't have: they're tested on a LAN of namespaces.
    @Test("a group datagram over loopback reaches who joined, and nobody else")
    func multicast() async throws {
        let pair = try Pair()
        let group = IPAddress.v4(239, 255, 19, 51)
        let here = try await pair.open(Endpoint(.loopback, port: 0), interface: loopbackIndex)
        let there = try await pair.open(Endpoint(.any, port: 0), group: group, interface: loopbackIndex)
        _ = try await pair.open(Endpoint(.any, port: there.port), group: .v4(239, 255, 19, 52), interface: loopbackIndex)
        try await pair.send([4, 2], from: 0, to: Endpoint(group, port: there.port))
        try await pair.send([4, 3], from: 0, to: Endpoint(group, port: there.port))
        for last: UInt8 in [2, 3] {
            #expect(await pair.arrivals.next() == Arrival(bytes: [4, last], source: here, interface: loopbackIndex, isOversize: false))
        }
    }

    @Test("a thousand datagrams in a burst: none lost, none twice, in order")
    func burst() async throws {
        let pair = try Pair()
        _ = try await pair.open(Endpoint(.loopback, port: 0))
        let there = try await pair.open(Endpoint(.loopback, port: 0))
        for index in 0..<1_000 { try await pair.send([UInt8(index >> 8), UInt8(index & 255)], from: 0, to: there) }
        for index in 0..<1_000 {
            #expect(await pair.arrivals.next()?.bytes == [UInt8(index >> 8), UInt8(index & 255)])
        }
    }

    @Test("an address that isn't this machine's can't be bound, and the error says which")
    func foreignAddress() async throws {
        let pair = try Pair()
        await #expect(throws: SystemError(function: "bind", code: EADDRNOTAVAIL, subject: "192.0.2.1:0")) {
            try await pair.open(Endpoint(.v4(192, 0, 2, 1), port: 0))
        }
    }
}
