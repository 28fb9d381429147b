import SocketCore
import Synchronization
import TestSupport
import Testing
import WifiDiscovery

@testable import wifictl

struct VerifyProgressTests {
    @Test func `verify counts the routers that it has asked`() async throws {
        let home = try TemporaryDirectory()
        let written = Mutex("")
        let target = OutputTarget(
            facts: .init(width: 80, remarksWidth: 80, isPainted: false, remarksArePainted: false),
            write: { bytes, channel in
                if channel == .remarks { written.withLock { $0 += String(decoding: bytes, as: UTF8.self) } }
                return nil
            }, room: {})
        // Routers that offer no TLS are judged without a word over the network.
        let subjects = (1...3).map { number in
            RouterVerifier.Subject(
                mac: MACAddress(2, 0, 0x5E, 0, 0x53, UInt8(number)), endpoint: Endpoint(.loopback, port: 19_510), offersTLS: false)
        }
        let output = Output(mode: .text, verbosity: .normal, to: target)
        let findings = try await VerifyRun.findings(
            subjects, RouterTrust(), SessionConfiguration(role: .controller), home: home.path, output)
        #expect(findings.count == 3)
        let shown = written.withLock(\.self)
        for count in 0...3 { #expect(shown.contains("\(count) of 3 asked to prove whose they are"), "\(shown)") }
    }
}
