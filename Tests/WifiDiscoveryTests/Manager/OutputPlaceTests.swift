import Foundation
import Glibc
import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("What a stream is read into", .timeLimit(.minutes(10)))
struct OutputPlaceTests {
    private func mode(_ path: String) throws -> Int {
        try #require(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("a link is followed, and the file behind it keeps its mode")
    func link() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        let folder = try StreamReadingTests.folder()
        try FileManager.default.createDirectory(atPath: folder + "/elsewhere", withIntermediateDirectories: true)
        try Data("old".utf8).write(to: URL(fileURLWithPath: folder + "/elsewhere/log"))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: folder + "/elsewhere/log")
        try FileManager.default.createSymbolicLink(atPath: folder + "/log", withDestinationPath: "elsewhere/log")
        try FileManager.default.createSymbolicLink(atPath: folder + "/dangling", withDestinationPath: folder + "/new")
        #expect(try await router.read("log", into: folder + "/log").total == 5_120)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder + "/log") == "elsewhere/log")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/elsewhere/log")) == Data(StreamReadingTests.log))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/elsewhere") == ["log"])
        #expect(try mode(folder + "/elsewhere/log") == 0o644)
        _ = try await router.read("log", into: folder + "/dangling")
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder + "/new")) == Data(StreamReadingTests.log))
        #expect(try mode(folder + "/new") == 0o600)
        await manager.close()
        await fleet.stop()
    }

    /// On a thread of its own: the tasks' threads are few.
    private static func blocking(_ read: @Sendable @escaping () throws -> Data?) async throws -> Data? {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result(catching: read)) }
        }
    }

    @Test("a pipe takes the bytes as they come, once somebody reads from it, and stays a pipe; so does an open descriptor")
    func pipe() async throws {
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        let path = try StreamReadingTests.folder() + "/pipe"
        try #require(mkfifo(path, 0o600) == 0)
        // As many as are due, and no waiting for an end: a child that another test starts may hold the pipe for a while.
        async let reading = Self.blocking { try #require(FileHandle(forReadingAtPath: path)).read(upToCount: 5_120) }
        #expect(try await router.read("log", into: path).kept == 0)
        #expect(try await reading == Data(StreamReadingTests.log))
        #expect(try OutputPlace(path).kind == .pipe)
        var ends: [Int32] = [-1, -1]
        try #require(Glibc.pipe(&ends) == 0)
        let (from, to) = (ends[0], ends[1])
        async let content = Self.blocking { try FileHandle(fileDescriptor: from, closeOnDealloc: true).read(upToCount: 5_120) }
        #expect(try await router.read("log", into: "/dev/fd/\(to)").total == 5_120)
        close(to)
        #expect(try await content == Data(StreamReadingTests.log))
        await manager.close()
        await fleet.stop()
    }

    @Test("what can't take a stream is refused before anything is asked, and is as it was")
    func unfit() async throws {
        let folder = try StreamReadingTests.folder()
        #expect(throws: StreamFileError.unfit(path: folder, is: "a directory")) { try OutputPlace(folder) }
        #expect(throws: StreamFileError.unfit(path: folder + "/", is: "a directory")) { try OutputPlace(folder + "/") }
        #expect(throws: StreamFileError.self) { try OutputPlace(folder + "/none/log") }
        #expect(throws: StreamFileError.self) { try OutputPlace("") }
        try FileManager.default.createSymbolicLink(atPath: folder + "/a", withDestinationPath: "b")
        try FileManager.default.createSymbolicLink(atPath: folder + "/b", withDestinationPath: "a")
        #expect(throws: StreamFileError.system(SystemError(function: "stat", code: ELOOP, subject: folder + "/a"))) {
            try OutputPlace(folder + "/a")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder).sorted() == ["a", "b"])
        #expect(try OutputPlace("/dev/full").kind == .device && !OutputPlace("/dev/full").isFile)
        let fleet = try await TestFleet(1)
        let manager = fleet.manager()
        let router = try await manager.connect()
        await #expect(throws: StreamFileError.system(SystemError(function: "write", code: ENOSPC, subject: "/dev/full"))) {
            try await router.read("log", into: "/dev/full")
        }
        #expect(try OutputPlace("/dev/full").kind == .device)
        #expect(fleet.count("read", 0) == 1)
        await manager.close()
        await fleet.stop()
    }
}
