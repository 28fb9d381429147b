import Foundation
import SocketCore
import Synchronization
import Testing

@testable import WifiDiscovery

@Suite("Reading a stream from a router into a file", .timeLimit(.minutes(10)))
struct StreamReadingTests {
    static let log = (0..<5_120).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ 13) }
    static var small: PieceSchedule.Settings {
        var settings = PieceSchedule.Settings()
        settings.first = 256
        settings.largest = 256
        return settings
    }

    static func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.path + "/streams-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        return folder
    }

    @Test("connections that are lost on the way are no matter: every byte once, in order; progress is told")
    func lostConnections() async throws {
        let fleet = try await TestFleet(1) { _, options in options.closeAfter = 9 }
        let manager = fleet.manager()
        let folder = try StreamReadingTests.folder()
        let router = try await manager.connect()
        let progress = Mutex<[Int]>([])
        let (total, kept) = try await router.read("log", into: folder + "/log", settings: StreamReadingTests.small) { step in
            progress.withLock { $0.append(step.offset) }
        }
        #expect(total == 5_120 && kept == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/log")) == Data(StreamReadingTests.log))
        #expect(progress.withLock { $0 } == Array(stride(from: 256, through: 5_120, by: 256)))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["log"])
        await manager.close()
        await fleet.stop()
    }

    @Test("an interrupted reading is gone on with, after a relaunch too; one of another boot begins anew")
    func interrupted() async throws {
        struct Stop: Error {}
        let fleet = try await TestFleet(1)
        let folder = try StreamReadingTests.folder()
        let first = fleet.manager()
        let router = try await first.connect()
        let source = StreamFile.Source(router: "\(fleet.macs[0])", boot: await router.session.opening?.router?.identity.boot, stream: "log")
        do {
            let file = try StreamFile(OutputPlace(folder + "/log"), source)
            _ = try? await router.read("log", settings: StreamReadingTests.small) { piece in
                try file.append(piece.data, total: piece.total)
                if piece.offset >= 1_024 { throw Stop() }
            }
            await #expect(throws: StreamFileError.inUse(path: folder + "/log")) { _ = try await router.read("log", into: folder + "/log") }
        }
        await first.close()
        let second = fleet.manager()
        let (total, kept) = try await second.connect().read("log", into: folder + "/log")
        #expect(total == 5_120 && kept == 1_280)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/log")) == Data(StreamReadingTests.log))
        // What another boot has left isn't ours.
        let stale = StreamFile.Source(router: source.router, boot: "0123456789abcdef", stream: "log")
        do { try StreamFile(OutputPlace(folder + "/old"), stale).append(Array(repeating: 9, count: 100), total: 5_120) }
        let router2 = try await second.connect()
        #expect(try await router2.read("log", into: folder + "/old").kept == 0)
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/old")) == Data(StreamReadingTests.log))
        await second.close()
        await fleet.stop()
    }
}
