import SocketCore
import TestSupport

/// A device on loopback that answers whatever it's sent as Ubiquiti's devices do.
actor UbiquitiDevice: DatagramOwner {
    /// Of its own, since the dialect's port is the same for all.
    static let address = IPAddress.v4(0x7F00_0002)

    nonisolated let loop: EventLoop
    nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }
    private let answer: [UInt8]
    private var socket: UDPSocket?

    init(mac: [UInt8], name: String) throws {
        loop = try EventLoop(name: "device-loop")
        let records: [(type: UInt8, value: [UInt8])] = [(0x01, mac), (0x0B, Array(name.utf8)), (0x14, Array("AX-2".utf8))]
        let body = records.reduce(into: [UInt8]()) { $0 += [$1.type, 0, UInt8($1.value.count)] + $1.value }
        answer = [1, 0, 0, UInt8(body.count)] + body
    }

    deinit { loop.stop() }

    func start() throws {
        var options = UDPSocket.Options()
        options.sharesPort = true
        socket = try UDPSocket(on: loop, bind: Endpoint(UbiquitiDevice.address, port: 10_001), options: options, owner: self)
    }

    nonisolated func datagramArrived(_ socket: UDPSocket, _ bytes: RawSpan, from source: Endpoint, interface: UInt32, isOversize: Bool) {
        assumeIsolated { device in
            let answer = device.answer
            // A lost answer is asked for again.
            try? device.socket?.send(answer.span.bytes, to: source)
        }
    }

    nonisolated func socketReported(_ socket: UDPSocket, _ error: SystemError) {}
}
