import Foundation
import Synchronization
import TestSupport
import Testing

@testable import SocketCore

/// Revocation lists whose files change while the routers that judge by them go on.
struct ChangedListTests {
    /// A router over a list in a file, and an operator whose serial a list may have.
    private struct Scene {
        let company: TestCompany
        let remarks = Remarks()
        let list: String
        let client: TLSContext
        let server: TLSContext

        init() async throws {
            company = try await TestCompany.shared
            list = try company.workshop.file(try await company.workshop.revocationList(by: company.operatorRoot, serials: []))
            let controller = try await company.workshop.issue(
                "Operator", by: company.operatorRoot, extensions: CertificateWorkshop.operatorExtensions, names: [TestCompany.operatorName],
                serial: "3001")
            client = try TLSContext(company.clientConfiguration(identity: controller.identity))
            var configuration = company.serverConfiguration()
            configuration.revocationLists = [try TLSConfiguration.NamedBytes(file: list)]
            let remarks = remarks
            configuration.onRemark = { remarks.add($0) }
            server = try TLSContext(configuration)
        }

        func connect(resuming session: TLSSession? = nil) throws(TLSError) -> EnginePair {
            let pair = try EnginePair(client: client, server: server, resuming: session)
            pair.settle()
            return pair
        }

        /// As whoever fetches a new list does it: beside, and then in its place.
        func write(_ content: [UInt8]) throws { try TLSFile.write(content, to: list) }

        func revocationList(_ serials: String...) async throws -> [UInt8] {
            try await company.workshop.revocationList(by: company.operatorRoot, serials: serials)
        }
    }

    private final class Remarks: Sendable {
        private let told = Mutex<[String]>([])
        var all: [String] { told.withLock { $0 } }
        func add(_ remark: String) { told.withLock { $0.append(remark) } }
    }

    private let revoked = TLSError.certificateRefused(ChainFinding(.revoked, depth: 0))

    @Test func `who is revoked while the router runs gets no further connection, with a ticket or without`() async throws {
        let scene = try await Scene()
        let before = try scene.connect()
        #expect(before.server.state == .open)
        let ticket = try #require(before.client.session)
        #expect(try scene.connect(resuming: ticket).server.isResumed)
        try scene.write(try await scene.revocationList("3001"))
        #expect(try scene.connect(resuming: ticket).serverError == revoked)
        #expect(try scene.connect().serverError == revoked)
        #expect(scene.remarks.all.count == 1 && scene.remarks.all[0].contains("revoked by it now: 1"), "\(scene.remarks.all)")
        // The connection that stands goes on.
        try before.client.write([1])
        before.settle()
        #expect(before.toServer == [1])
    }

    @Test func `a list that is damaged or gone clears nobody, is told once, and counts again when it is back`() async throws {
        let scene = try await Scene()
        try scene.write(try await scene.revocationList("3001"))
        #expect(try scene.connect().serverError == revoked)
        try scene.write(Array("no list\n".utf8))
        for _ in 0..<3 { #expect(try scene.connect().serverError == revoked) }
        #expect(scene.remarks.all.count == 2 && scene.remarks.all[1].contains("holds no revocation list"), "\(scene.remarks.all)")
        try FileManager.default.removeItem(atPath: scene.list)
        for _ in 0..<3 { #expect(try scene.connect().serverError == revoked) }
        #expect(scene.remarks.all.count == 3 && scene.remarks.all[2].contains("cannot open"), "\(scene.remarks.all)")
        try scene.write(try await scene.revocationList("3002", "3003"))
        #expect(try scene.connect().server.state == .open)
        #expect(scene.remarks.all.count == 4 && scene.remarks.all[3].contains("revoked by it now: 2"), "\(scene.remarks.all)")
    }

    @Test func `what doesn't change is read once, however many connections come`() async throws {
        let scene = try await Scene()
        let lists = scene.server.configuration.revocationLists[0].lists
        let first = lists.refresh { Issue.record("\($0)") }
        for _ in 0..<10 { #expect(try scene.connect().server.state == .open) }
        let last = lists.refresh { Issue.record("\($0)") }
        #expect(last.edition == first.edition && last.lists[0] === first.lists[0])
        #expect(scene.remarks.all.isEmpty)
    }
}
