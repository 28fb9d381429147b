import SocketCore
import TestSupport
import Testing

@testable import WifiDiscovery

@Suite("A command to all of the company's routers", .timeLimit(.minutes(10)))
struct GroupTests {
    @Test("each of them gets it and answers; another company's, one in the clear and one with a borrowed certificate don't hear of it")
    func company() async throws {
        let company = try await TestCompany.shared
        let otherRoot = try await company.workshop.selfSigned("Other devices")
        var identities: [TLSIdentity] = []
        // The fifth router shows a certificate that names the first one.
        for (number, issuer) in [(1, company.deviceRoot), (2, company.deviceRoot), (3, otherRoot), (1, company.deviceRoot)] {
            identities.append(
                try await company.workshop.issue(
                    "Router \(number)", by: issuer, extensions: CertificateWorkshop.deviceExtensions,
                    names: ["URI:urn:dev:org:32473-mac:02005e00530\(number)"]
                ).identity)
        }
        let shown: [Int: TLSIdentity] = [0: identities[0], 1: identities[1], 2: identities[2], 4: identities[3]]
        let fleet = try await TestFleet(5) { index, options in
            options.tls = shown[index].map { company.serverConfiguration(identity: $0, requiresPeer: false) }
        }
        let manager = fleet.manager {
            $0.trust = RouterTrust(roots: [company.deviceRoot.asRoot])
            $0.trust.clock = { TestCompany.now.now }
            // The exception is for routers that are named; of a group's members nobody has named any.
            $0.allowsUnproven = true
        }
        let outcome = try await manager.command(.set(values: [.init("led", false)]), to: .company)
        #expect(outcome.isWhole && Set(outcome.succeeded) == [fleet.macs[0], fleet.macs[1]], "\(outcome)")
        for index in 0..<5 { #expect(fleet.count("set", index) == (index < 2 ? 1 : 0)) }
        // The current router is asked over its session.
        try await manager.connect()
        let again = try await manager.command(.get(names: ["led"]), to: .company)
        #expect(again.isWhole && again.succeeded.count == 2, "\(again)")
        for index in 2..<5 { #expect(fleet.taken(index).isEmpty) }
        await manager.close()
        await fleet.stop()
    }
}
