import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

/// Frames between processes over a path; here both ends are in one.
@Suite struct LocalLinkTests {
    /// A listener, a link to it, and the other end of that link.
    private func pair(_ directory: TemporaryDirectory) async throws -> (LocalListener, LocalLink, LocalLink) {
        let path = directory.file("socket")
        let listener = try await LocalListener.open(path) { Issue.record("\($0)") }
        let near = try await LocalLink.connect(to: path)
        var links = listener.links.makeAsyncIterator()
        return (listener, near, try #require(await links.next()))
    }

    private func frames(_ count: Int, from link: LocalLink) async -> [Frame] {
        var all: [Frame] = []
        while all.count < count, let more = await link.next() { all += more }
        return all
    }

    @Test func `frames go both ways, in order, empty ones and long ones too`() async throws {
        let directory = try TemporaryDirectory()
        let (listener, near, far) = try await pair(directory)
        let long = (0..<(3 * LocalLink.largestPiece + 1)).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        near.post(7)
        near.post(8, Array("one".utf8))
        near.post(9, long)
        far.post(1, Array("back".utf8))
        let arrived = await frames(6, from: far)
        #expect(arrived.map(\.msgId) == [7, 8, 9, 9, 9, 9])
        #expect(arrived[0].body.isEmpty && arrived[1].body == Array("one".utf8))
        #expect(arrived[2...].flatMap(\.body) == long)
        #expect(await frames(1, from: near) == [Frame(msgId: 1, body: Array("back".utf8))])
        await near.close()
        #expect(await far.next() == nil)
        await listener.close()
    }

    @Test func `what was posted before closing arrives`() async throws {
        let directory = try TemporaryDirectory()
        let (listener, near, far) = try await pair(directory)
        let body = [UInt8](repeating: 5, count: 4 << 20)
        near.post(1, body)
        async let closed: Void = near.close()
        var count = 0
        while let more = await far.next() { count += more.reduce(0) { $0 + $1.body.count } }
        await closed
        #expect(count == body.count)
        #expect(!near.post(1), "an ended link takes nothing")
        await listener.close()
    }

    @Test func `what came before the other side went is read, however late`() async throws {
        let directory = try TemporaryDirectory()
        let (listener, near, far) = try await pair(directory)
        // Until more waits than is read unasked, and then some into the kernel's buffer.
        let body = [UInt8](repeating: 6, count: 5 * LocalLink.largestPiece)
        #expect(near.post(1, body))
        await near.close()
        // It has been noticed that nobody is there.
        while far.post(2) { await Task.yield() }
        await far.room()
        var count = 0
        while let more = await far.next() { count += more.reduce(0) { $0 + $1.body.count } }
        #expect(count == body.count)
        await far.close()
        await listener.close()
    }

    @Test func `who can't wait is cut off when the other side doesn't read`() async throws {
        let directory = try TemporaryDirectory()
        let (listener, near, far) = try await pair(directory)
        let piece = [UInt8](repeating: 1, count: 1 << 20)
        var posted = 0
        while near.post(1, piece) { posted += piece.count }
        // Nobody called `next`: beyond the bound of what may wait lie only the kernel's buffer and what the far end has read.
        #expect(posted >= LocalLink.largestBacklog - piece.count && posted < 2 * LocalLink.largestBacklog)
        while await far.next() != nil {}
        await listener.close()
    }

    @Test func `who can wait goes on when the other side reads`() async throws {
        let directory = try TemporaryDirectory()
        let (listener, near, far) = try await pair(directory)
        let piece = [UInt8](repeating: 2, count: 64 << 10)
        let count = 256
        async let reading = frames(count, from: far)
        for _ in 0..<count {
            #expect(near.post(1, piece))
            await near.room()
        }
        #expect(await reading.count == count)
        await near.close()
        await listener.close()
    }

    @Test func `the path is its owner's, is held once, and is taken over from a process that died`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("socket")
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let listener = try await LocalListener.open(path) { Issue.record("\($0)") }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let second = await #expect(throws: SystemError.self) { try await LocalListener.open(path) { Issue.record("\($0)") } }
        #expect(second?.code == EADDRINUSE)
        await listener.close()
        let nobody = await #expect(throws: SystemError.self) { try await LocalLink.connect(to: path) }
        #expect(nobody?.code == ENOENT)
        let again = try await LocalListener.open(path) { Issue.record("\($0)") }
        await again.close()
        let long = directory.file(String(repeating: "x", count: 200))
        let tooLong = await #expect(throws: SystemError.self) { try await LocalListener.open(long) { Issue.record("\($0)") } }
        #expect(tooLong?.code == ENAMETOOLONG)
    }
}
