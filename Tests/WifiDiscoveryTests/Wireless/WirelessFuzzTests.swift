import SocketCore
import Testing

@testable import WifiDiscovery

struct WirelessFuzzTests {
    /// A kernel whose replies are bent in a few bytes, cut short, or put together from two.
    private struct BentKernel: WirelessKernel {
        var recorded: RecordedKernel
        var seed: UInt64

        func ask(_ request: NetlinkRequest) -> KernelAnswer {
            guard case .messages(let messages) = recorded.ask(request) else { return .refused(95) }
            var generator = SeededGenerator(seed: seed &+ UInt64(request.sequence))
            return .messages(
                messages.map { message in
                    var bytes = Array(message.payload)
                    mutate(&bytes, &generator)
                    var bent = message
                    bent.payload = bytes[...]
                    return bent
                })
        }
        func interfaces() -> [(index: UInt32, name: String)] { [(1, "lo")] }
        func isUp(_ name: String) -> Bool? { true }
        func accessPoint(_ name: String) -> MACAddress? { nil }
    }

    private static func mutate(_ bytes: inout [UInt8], _ generator: inout SeededGenerator) {
        guard !bytes.isEmpty else { return }
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            bytes[Int.random(in: 0..<bytes.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
        }
        if generator.chance(0.2) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
    }

    @Test(arguments: Recordings.situations)
    func `Bent replies give a report or a reason, never a crash or a placeholder`(situation: String) throws {
        let recorded = try RecordedKernel(situation)
        for seed in UInt64(0)..<150 {
            let report = WirelessReading.read(BentKernel(recorded: recorded, seed: seed))
            #expect(report.addresses.isEmpty == (report.unknown != nil), "seed \(seed)")
            #expect(report.addresses.allSatisfy { !$0.isPlaceholder }, "seed \(seed)")
            #expect(report.interfaces.allSatisfy { ($0.linked?.ssid?.bytes.count ?? 0) <= WirelessName.maximumLength }, "seed \(seed)")
        }
    }

    @Test func `Bent datagrams end their own walk`() throws {
        let whole = try Recordings.datagrams("crowd/get-scan-wlan0.reply.hex")
        for seed in UInt64(0)..<400 {
            var generator = SeededGenerator(seed: seed)
            var datagram = whole[Int.random(in: 0..<whole.count, using: &generator)]
            WirelessFuzzTests.mutate(&datagram, &generator)
            let messages = NetlinkMessage.all(in: datagram)
            #expect(messages.count <= datagram.count / NetlinkMessage.headerSize, "seed \(seed)")
            for message in messages {
                #expect(NetlinkAttributes(message.payload).reduce(0) { count, _ in count + 1 } <= datagram.count / 4)
            }
        }
    }
}
