import Glibc
import Testing

@testable import SocketCore

@Suite("TCP streams over loopback", .timeLimit(.minutes(10)))
struct StreamTests {
    let server = RecordingOwner()
    let client = RecordingOwner()

    /// A harness whose client is connected.
    func connected(acceptedReads: Bool = true) async throws -> StreamHarness {
        let harness = try StreamHarness(server: server, client: client, acceptedReads: acceptedReads)
        try await harness.connect(to: harness.listen(.loopback))
        #expect(await client.events.next() == .opened)
        return harness
    }

    @Test("bytes go there and back, then both ends finish in order", arguments: ["127.0.0.1", "::1"])
    func echo(address: String) async throws {
        let server = RecordingOwner(echoes: true)
        let harness = try StreamHarness(server: server, client: client)
        try await harness.connect(to: harness.listen(#require(IPAddress(address))))
        #expect(await client.events.next() == .opened)
        await harness.write([1, 2, 3])
        #expect(await client.events.next() == .received([1, 2, 3]))
        await harness.finishWriting()
        #expect(await client.events.next() == .ended(.peerFinished))
        #expect(await server.events.until { $0 == .ended(.peerFinished) } == [.received([1, 2, 3]), .ended(.peerFinished)])
    }

    @Test("a port that nobody listens on says so, with the address")
    func refused() async throws {
        let harness = try StreamHarness(server: server, client: client)
        let endpoint = try await harness.listen(.loopback)
        await harness.stopListening()
        try await harness.connect(to: endpoint)
        let error = SystemError(function: "connect", code: ECONNREFUSED, subject: endpoint.description)
        #expect(await client.events.next() == .ended(.connectFailed(error)))
        #expect(StreamEnd.connectFailed(error).description == "cannot connect to \(endpoint): connection refused")
    }

    @Test("a reader that doesn't read makes writing fall short, and reading again makes it writable")
    func backPressure() async throws {
        let harness = try await connected(acceptedReads: false)
        let chunk = [UInt8](repeating: 7, count: 1 << 20)
        var sent = 0
        while true {
            let taken = await harness.write(chunk)
            sent += taken
            if taken < chunk.count { break }
        }
        await harness.setAcceptedReading(true)
        #expect(await client.events.next() == .writable)
        var received = 0
        _ = await server.events.until { event in
            if case .received(let bytes) = event { received += bytes.count }
            return received == sent
        }
        #expect(received == sent)
    }

    @Test("a peer that resets is told as a broken connection")
    func reset() async throws {
        let harness = try await connected(acceptedReads: false)
        // The server holds unread bytes when it closes: the kernel answers with a reset.
        await harness.write([1])
        await harness.closeAccepted()
        let ended = await client.events.next()
        #expect(ended == .ended(.broken(SystemError(function: "recv", code: ECONNRESET))))
    }
}
