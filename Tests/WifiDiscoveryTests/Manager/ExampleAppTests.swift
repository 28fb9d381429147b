import SocketCore
import TestSupport
import Testing
import WifiDiscovery

@Suite("The example app", .timeLimit(.minutes(10)))
struct ExampleAppTests {
    @Test("against simulated routers it does what its lines say")
    func runs() async throws {
        let fleet = try await TestFleet(2)
        let home = try TemporaryDirectory()
        let result = try await runCommand(
            [BuiltTool.beside("example-app"), "\(fleet.port)", "\(fleet.macs[0])", "\(fleet.macs[1])", home.path],
            within: .seconds(120), mustSucceed: true)
        let lines = result.lines
        #expect(lines.contains("connected to \(fleet.macs[0])") && lines.contains("wifi.ssid is \"Attic\""))
        #expect(lines.contains("refused: clients can't be written on this router; nothing was sent"))
        #expect(lines.contains("moved to \(fleet.macs[1])") && lines.contains("in the background"))
        #expect(lines.contains("back with \(fleet.macs[1])") && lines.contains("wifi.ssid is \"Home\""))
        #expect(lines.contains("2 of 2 routers answered"))
        #expect(lines.contains("news: clients of \(fleet.macs[0]) is 0"))
        await fleet.stop()
    }
}
