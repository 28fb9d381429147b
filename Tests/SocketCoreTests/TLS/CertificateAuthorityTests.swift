import Foundation
import TestSupport
import Testing

@testable import SocketCore

/// What our own authority makes is looked at with the `openssl` command and judged by our own rules.
struct CertificateAuthorityTests {
    private static let now = WallTime(year: 2_026, month: 12, day: 1)

    /// A company in a directory that goes with it.
    private final class Fleet {
        let directory: String
        let company: CertificateAuthority

        init() throws {
            directory = FileManager.default.temporaryDirectory.appending(path: "fleet-\(UUID().uuidString)").path
            company = try CertificateAuthority.create(in: directory, name: "Example, Inc. URI:urn:x", enterprise: 32_473, now: now)
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }
    }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    @Test func `a device's certificate follows the profile, and openssl agrees`() async throws {
        let fleet = try Fleet()
        let issued = try fleet.company.issueDevice(
            address: 0x0200_5E00_5301, radios: [0x0200_5E00_5311, 0x0200_5E00_5312], days: nil, now: Self.now)
        let facts = issued.facts
        #expect(facts.notAfter == .noExpiry)
        #expect(facts.keyUsage == .digitalSignature && facts.extendedKeyUsage == .server && !facts.isAuthority && facts.key == .p256)
        #expect(
            facts.uris == [
                "urn:dev:org:32473-mac:02005e005301", "urn:dev:org:32473-bssid:02005e005311", "urn:dev:org:32473-bssid:02005e005312",
            ])
        let verified = try await runCommand([
            "openssl", "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", fleet.company.companyRootFile, issued.certificateFile,
        ])
        #expect(verified.status == 0, "\(verified.errorText)")
        let text = try await runCommand(["openssl", "x509", "-in", issued.certificateFile, "-noout", "-text"], mustSucceed: true).text
        #expect(text.contains("Not After : Dec 31 23:59:59 9999 GMT"))
        #expect(text.contains("Digital Signature") && text.contains("TLS Web Server Authentication"))
        #expect(text.contains("Subject Alternative Name: \n") && text.contains("URI:urn:dev:org:32473-mac:02005e005301"))
    }

    @Test func `the two roots differ and neither kind passes for the other`() async throws {
        let fleet = try Fleet()
        let device = try fleet.company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: 365, now: Self.now)
        let controller = try fleet.company.issueOperator(id: "field-7", days: 365, now: Self.now)
        #expect(controller.facts.extendedKeyUsage == .client && controller.facts.names().operators == ["field-7"])
        for (root, leaf, passes) in [
            (fleet.company.companyRootFile, device, true), (fleet.company.operatorRootFile, controller, true),
            (fleet.company.companyRootFile, controller, false), (fleet.company.operatorRootFile, device, false),
        ] {
            let status = try await runCommand(["openssl", "verify", "-CAfile", root, leaf.certificateFile]).status
            #expect((status == 0) == passes)
        }
        let pair = try EnginePair(
            client: TLSContext(
                TLSConfiguration(
                    role: .client, identity: TLSIdentity(certificateFile: controller.certificateFile, keyFile: controller.keyFile),
                    roots: [.init(file: fleet.company.companyRootFile)], judge: TestCompany.acceptsChain)),
            server: TLSContext(
                TLSConfiguration(
                    role: .server(requiresPeer: true),
                    identity: TLSIdentity(certificateFile: device.certificateFile, keyFile: device.keyFile),
                    roots: [.init(file: fleet.company.operatorRootFile)], judge: TestCompany.acceptsOperators)))
        pair.settle()
        #expect(pair.client.state == .open && pair.server.state == .open)
    }

    @Test func `keys are private files, and a second company in the same place is refused`() throws {
        let fleet = try Fleet()
        let issued = try fleet.company.issueOperator(id: "a", days: 1, now: Self.now)
        for key in [issued.keyFile, fleet.directory + "/company-root.key", fleet.directory + "/operator-root.key"] {
            #expect(try mode(key) == 0o600)
        }
        #expect(try mode(issued.certificateFile) == 0o644)
        let leftovers = try FileManager.default.subpathsOfDirectory(atPath: fleet.directory).filter { $0.hasSuffix(".new") }
        #expect(leftovers.isEmpty)
        #expect(throws: TLSError.self) {
            try CertificateAuthority.create(in: fleet.directory, name: "Other", enterprise: 1, now: Self.now)
        }
        #expect(try CertificateAuthority(opening: fleet.directory).enterprise == 32_473)
    }

    @Test func `what is revoked is on its issuer's list, once, and the list counts up`() async throws {
        let fleet = try Fleet()
        let first = try fleet.company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: nil, now: Self.now)
        let second = try fleet.company.issueDevice(address: 0x0200_5E00_5302, radios: [], days: nil, now: Self.now)
        let controller = try fleet.company.issueOperator(id: "a", days: nil, now: Self.now)
        for serial in [first.facts.serial, first.facts.serial.uppercased()] {
            #expect(try fleet.company.revoke(serial: serial, now: Self.now) == fleet.company.companyListFile)
        }
        #expect(try fleet.company.revoke(serial: controller.facts.serial, now: Self.now) == fleet.company.operatorListFile)
        let list = try RevocationList.all(in: TLSFile.read(fleet.company.companyListFile), of: "list")[0]
        #expect(list.entries.map(\.serial) == [first.facts.serial])
        let text = try await runCommand(["openssl", "crl", "-in", fleet.company.companyListFile, "-noout", "-text"], mustSucceed: true).text
        #expect(text.contains("X509v3 CRL Number: \n                3"))
        for (leaf, passes) in [(first, false), (second, true)] {
            let result = try await runCommand([
                "openssl", "verify", "-crl_check", "-CRLfile", fleet.company.companyListFile, "-attime", "\(Self.now.seconds + 60)",
                "-CAfile",
                fleet.company.companyRootFile, leaf.certificateFile,
            ])
            #expect((result.status == 0) == passes, "\(result.errorText)")
        }
        #expect(throws: TLSError.self) { try fleet.company.revoke(serial: "123456", now: Self.now) }
    }

    @Test func `a certificate in force isn't overwritten unless that's wished for, and a revoked one makes room`() throws {
        let fleet = try Fleet()
        let issue = { (replacing: Bool) in
            try fleet.company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: nil, now: Self.now, replacing: replacing)
        }
        let first = try issue(false)
        let key = try TLSFile.read(first.keyFile)
        let refusal = #expect(throws: TLSError.self) { try issue(false) }
        #expect("\(String(describing: refusal))".contains(first.facts.serial) && "\(String(describing: refusal))".contains("--replace"))
        #expect(try TLSFile.read(first.keyFile) == key)
        let second = try issue(true)
        #expect(second.replaced == first.facts.serial && second.facts.serial != first.facts.serial)
        _ = try fleet.company.revoke(serial: second.facts.serial, now: Self.now)
        #expect(try issue(false).replaced == nil)
        let controller = try fleet.company.issueOperator(id: "a", days: nil, now: Self.now)
        #expect(throws: TLSError.self) { try fleet.company.issueOperator(id: "a", days: nil, now: Self.now) }
        // A key alone is worth keeping, too.
        try FileManager.default.removeItem(atPath: controller.certificateFile)
        #expect(throws: TLSError.self) { try fleet.company.issueOperator(id: "a", days: nil, now: Self.now) }
    }

    @Test func `a serial is known by as much of its beginning as tells it from the others`() throws {
        let fleet = try Fleet()
        let serial = try fleet.company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: nil, now: Self.now).facts.serial
        for text in [serial, serial.uppercased(), String(serial.prefix(6)), "00\(serial.prefix(2)):\(serial.dropFirst(2).prefix(2))"] {
            #expect(try fleet.company.serial(beginning: text) == serial, "\(text)")
        }
        for text in ["", "0", serial + "0", "xyz"] { #expect(throws: TLSError.self) { try fleet.company.serial(beginning: text) } }
        // Of seventeen, two begin with the same digit.
        for number in 2...17 {
            _ = try fleet.company.issueDevice(address: 0x0200_5E00_5300 + UInt64(number), radios: [], days: nil, now: Self.now)
        }
        let refused = (1...15).compactMap { digit -> String? in
            do { _ = try fleet.company.serial(beginning: String(digit, radix: 16)) } catch { return "\(error)" }
            return nil
        }
        #expect(refused.contains { $0.contains("serials begin with") && $0.contains(", ") }, "\(refused)")
    }

    @Test func `a list is read whole or not at all, and once for all who judge by it`() async throws {
        let fleet = try Fleet()
        let device = try fleet.company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: nil, now: Self.now)
        let file = try fleet.company.revoke(serial: device.facts.serial, now: Self.now)
        let binary = file + ".der"
        _ = try await runCommand(["openssl", "crl", "-in", file, "-outform", "DER", "-out", binary], mustSucceed: true)
        let bytes = try TLSFile.read(binary)
        #expect(try RevocationList.all(in: bytes, of: "list").count == 1)
        // Two lists one behind the other are no list in DER, and half of them would clear whoever is on the other.
        #expect(throws: TLSError.self) { try RevocationList.all(in: bytes + bytes, of: "list") }
        #expect(throws: TLSError.self) { try RevocationList.all(in: bytes + [0], of: "list") }
        let configured = TLSConfiguration(
            role: .client, revocationLists: [try TLSConfiguration.NamedBytes(file: file)], judge: { _ in nil })
        let (source, copy) = (configured.revocationLists[0], configured.revocationLists[0])
        let (first, second) = (try source.lists.load(source), try copy.lists.load(copy))
        #expect(first.lists.count == 1 && first.lists[0] === second.lists[0])
        // Looking again changes nothing while the file is the same.
        #expect(copy.lists.refresh { Issue.record("\($0)") }.lists[0] === first.lists[0])
    }

    @Test(arguments: ["", "a b", "../x", "a/b", "..", "ä", String(repeating: "a", count: 65)])
    func `an operator's id that is no file's name or no URN's part is refused`(id: String) throws {
        let fleet = try Fleet()
        #expect(throws: TLSError.self) { try fleet.company.issueOperator(id: id, days: 1, now: Self.now) }
    }

    @Test func `nine radios, a missing company and a foreign file are each told`() throws {
        let fleet = try Fleet()
        #expect(throws: TLSError.self) {
            try fleet.company.issueDevice(address: 1, radios: Array(1...9), days: nil, now: Self.now)
        }
        #expect(throws: TLSError.self) { try CertificateAuthority(opening: fleet.directory + "/nowhere") }
        #expect(throws: TLSError.self) { try CertificateInspection.contents(ofFile: fleet.directory + "/company.json") }
    }

    @Test func `a file's content is shown without a byte of its key`() throws {
        let fleet = try Fleet()
        let issued = try fleet.company.issueOperator(id: "a", days: 1, now: Self.now)
        let both = fleet.directory + "/both.pem"
        let content = try TLSFile.read(issued.certificateFile) + TLSFile.read(issued.keyFile)
        try TLSFile.write(content, to: both)
        let found = try CertificateInspection.contents(ofFile: both)
        guard found.count == 2, case .certificate(let facts) = found[0], case .privateKey = found[1] else {
            Issue.record("unexpected: \(found)")
            return
        }
        #expect(facts == issued.facts)
        #expect("\(SecretBytes(content))" == "(secret)")
    }
}
