import SocketCore
import TestSupport
import Testing

/// Access points of another brand behind the company's router, told apart from what is proven.
@Suite("Child access points", .timeLimit(.minutes(10)))
struct ChildAccessPointTests {
    private static let child = "02:00:5e:00:53:02"
    private static let station = "02:00:5e:00:53:77"

    @Test(arguments: ["standard", "littleEndian"])
    func `a proven parent's child is vouched, and says where this machine sits; a reply's word alone makes nobody's`(
        layout: String
    ) async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let family = ["--child", Self.child, "--station", "\(Self.station)@\(Self.child)"]
        let parent = try await Loopback.router(
            port: port,
            ["--mac", VerifyToolTests.mac, "--tcp", "0", "--layout", layout] + family + VerifyToolTests.words(company.device, company))
        let child = try await Loopback.router(port: port, ["--mac", Self.child, "--tcp", "0"])
        // Somebody without proof who calls a third one its child.
        let liar = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:04", "--tcp", "0", "--child", "02:00:5e:00:53:05"])
        let other = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:05", "--tcp", "0"])
        let words = ["verify", "--for", "1s", "--json", "--station", Self.station, "--layout", layout] + VerifyToolTests.on(port)
        func verdicts(_ trusting: [String]) async throws -> [String: JSONValue] {
            let result = try await BuiltTool.run(words + trusting)
            let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }.filter { $0["type"] == "verdict" }
            return Dictionary(lines.map { ($0["mac"]?.stringValue ?? "", $0) }) { first, _ in first }
        }
        let admitted = try await verdicts(VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity))
        let proven = try #require(admitted[VerifyToolTests.mac])
        #expect(proven["verdict"] == "company" && proven["children"] == .array([.string(Self.child)]), "\(proven.text)")
        #expect(proven["sees"]?["station"] == true && proven["sees"]?["via"] == .string(Self.child), "\(proven.text)")
        let vouched = try #require(admitted[Self.child])
        #expect(vouched["verdict"] == "vouched" && vouched["certificate"] == .null, "\(vouched.text)")
        #expect(admitted["02:00:5e:00:53:05"]?["verdict"] == "unproven")
        // Without a certificate of ours the parent says nothing over its proven connection, and its reply is anybody's.
        let strangers = try await verdicts(VerifyToolTests.trusting(company))
        #expect(strangers[Self.child]?["verdict"] == "unproven" && strangers[VerifyToolTests.mac]?["verdict"] == "company")
        _ = (parent, child, liar, other)
    }

    @Test func `a vouched router is never chosen nor commanded; the choice says that this machine sits behind it`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let parent = try await Loopback.router(
            port: port,
            ["--mac", VerifyToolTests.mac, "--tcp", "0", "--child", Self.child] + VerifyToolTests.words(company.device, company))
        let child = try await Loopback.router(port: port, ["--mac", Self.child, "--bssid", Self.child, "--tcp", "0"])
        let trusting = VerifyToolTests.trusting(company, operatorIdentity: company.operatorIdentity)
        let found = try await Loopback.discover(port: port, ["--for", "1s", "--bssid", Self.child] + trusting)
        #expect(found.selected["mac"] == .null, "\(found.selected.text)")
        #expect(found.routers.contains { $0["verdict"] == "vouched" && $0["mac"] == .string(Self.child) })
        let refused = try await BuiltTool.run(["get", Self.child, "wifi.ssid"] + VerifyToolTests.on(port) + trusting)
        #expect(refused.status == 2 && refused.errorText.contains("isn't used"), "\(refused.errorText)")
        _ = (parent, child)
    }
}
