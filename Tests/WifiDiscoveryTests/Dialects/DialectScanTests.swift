import SocketCore
import Testing

@testable import WifiDiscovery

@Suite(.timeLimit(.minutes(10)))
struct DialectScanTests {
    private func answer(_ body: [UInt8], _ fields: String = "") -> [UInt8] { Array("HTTP/1.1 200 OK\r\n\(fields)\r\n".utf8) + body }

    @Test func `A description is fetched over a connection`() async throws {
        let document = try DialectFixture.file("gateway.xml")
        for fields in ["", "Content-Length: \(document.count)\r\n"] {
            let server = try DescriptionServer(saying: answer(document, fields), hangsUp: fields.isEmpty)
            #expect(try await server.fetch(within: .seconds(30)).get().name == "Attic & Cellar ☕")
        }
    }

    @Test func `A server that says nothing, something else or isn't there is named as such`() async throws {
        let silent = try DescriptionServer(saying: [], hangsUp: false)
        #expect(try await silent.fetch(within: .milliseconds(20)) == .failure(.exchange(.timedOut)))
        let hasty = try DescriptionServer(saying: Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n<root".utf8), hangsUp: true)
        #expect(try await hasty.fetch(within: .seconds(30)) == .failure(.answer(.truncated)))
        let elsewhere = try DescriptionServer(saying: Array("HTTP/1.1 301 Moved\r\n\r\n".utf8), hangsUp: true)
        #expect(try await elsewhere.fetch(within: .seconds(30)) == .failure(.answer(.status(301))))
        let absent = try await DescriptionServer(saying: [], hangsUp: true).fetch(within: .seconds(30), isListening: false)
        guard case .failure(.exchange(.stream(.connectFailed))) = absent else {
            Issue.record("\(absent)")
            return
        }
    }

    @Test func `Rounds come at their offsets, then once a period`() {
        let start = Instant(nanoseconds: 5)
        var rounds = DialectRounds(now: start)
        var times: [Duration] = []
        for _ in 0..<5 {
            times.append(rounds.next - start)
            let (first, second) = (rounds.isDue(now: rounds.next), rounds.isDue(now: start + times[times.count - 1]))
            #expect(first && !second)
        }
        #expect(times == DialectRounds.offsets + [.milliseconds(31_500), .milliseconds(61_500)])
    }

    @Test func `Forged answers don't make us knock everywhere`() throws {
        var fetches = DescriptionFetches()
        var begun = 0
        for number in UInt32(0)..<300 {
            let source = IPAddress.v4(0xC000_0200 + number)
            for path in 0..<6 {
                let location = try #require(HTTPLocation("http://\(source)/\(path)", from: source))
                let (first, second) = (fetches.begins(location), fetches.begins(location))
                if first { begun += 1 }
                #expect(!second)
            }
        }
        #expect(begun == DescriptionFetches.most)
    }

    @Test func `A scan on this machine alone ends on time and finds nobody`() async throws {
        var options = DialectDiscovery.Options()
        options.interfaces = ["lo"]
        options.link = .addresses([])
        options.dialects = [.ubnt]
        let result = try await DialectDiscovery(options).scan(for: .milliseconds(50))
        #expect(result.devices.isEmpty)
    }
}
