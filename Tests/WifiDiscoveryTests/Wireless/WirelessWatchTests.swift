import SocketCore
import Testing

@testable import WifiDiscovery

@Suite(.timeLimit(.minutes(10)))
struct WirelessWatchTests {
    @Test func `A watch begins with what is now`() async throws {
        for await report in WirelessLink.reports() {
            #expect(report.addresses.isEmpty == (report.unknown != nil))
            return
        }
        Issue.record("the watch ended")
    }
}
