import SocketCore
import Synchronization
import WifiDiscovery

/// Answers every probe at once for a thousand routers, as fast as it can send: what a scan gets on the largest LAN.
actor DiscoveryFlood: DatagramOwner {
    private static let placeholder = HexToken(.max)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

    /// Made once: only nonce and msgId are another probe's.
    private var replies: [[UInt8]]
    private let nonceOffset: Int
    private var socket: UDPSocket?

    init(_ routers: [RouterDescription], loop: EventLoop) {
        self.loop = loop
        replies = routers.map { DiscoveryDatagram(msgId: 1, .reply(nonce: DiscoveryFlood.placeholder, $0)).encoded() }
        let pattern = Array(DiscoveryFlood.placeholder.description.utf8)
        let first = replies.first ?? []
        nonceOffset = first.indices.first { first[$0...].starts(with: pattern) } ?? 0
    }

    /// Listens on loopback; gives the place to ask.
    func open() throws -> Endpoint {
        let socket = try UDPSocket(on: loop, bind: Endpoint(.v4(127, 0, 0, 1), port: 0), owner: self)
        self.socket = socket
        return socket.local
    }

    func close() {
        socket?.close()
        socket = nil
    }

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        guard let parsed = try? DiscoveryDatagram.parse(bytes), case .probe(let probe) = parsed.message else { return }
        assumeIsolated { $0.answer(probe.nonce, parsed.msgId, to: source) }
    }

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}

    private func answer(_ nonce: HexToken, _ msgId: UInt32, to source: Endpoint) {
        let text = Array(nonce.description.utf8)
        for index in replies.indices {
            for (offset, byte) in text.enumerated() { replies[index][nonceOffset + offset] = byte }
            for offset in 0..<4 { replies[index][offset] = UInt8(truncatingIfNeeded: msgId >> (24 - 8 * UInt32(offset))) }
            // A full buffer loses some, as on a real network; only what came is counted.
            let bytes = replies[index]
            try? socket?.send(bytes.span.bytes, to: source)
        }
    }
}
