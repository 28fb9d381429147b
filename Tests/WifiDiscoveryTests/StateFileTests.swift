import Foundation
import SocketCore
import Testing
import WifiDiscovery

@Suite("State that outlives the process", .timeLimit(.minutes(10)))
struct StateFileTests {
    /// A directory of the test's own, removed at its end.
    func withDirectory<R>(_ body: (String) async throws -> R) async throws -> R {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("state-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try await body(path)
    }

    func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test("what was written is read, in a file and a directory that only the owner sees")
    func roundTrip() async throws {
        try await withDirectory { directory in
            let file = StateFile(directory: directory + "/deep/er")
            #expect(try file.read() == nil)
            try file.update { $0 = ["current": "02:00:5e:00:53:01"] }
            #expect(try file.read() == ["current": "02:00:5e:00:53:01"])
            #expect(try mode(file.path) == 0o600)
            #expect(try mode(directory + "/deep/er") == 0o700)
        }
    }

    @Test("changes by many at once are all kept")
    func concurrent() async throws {
        try await withDirectory { directory in
            let file = StateFile(directory: directory)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<10 {
                            try file.update { state in state = .integer((state.integerValue ?? 0) + 1) }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try file.read() == 80)
        }
    }

    @Test("a change that fails leaves the state as it was")
    func failing() async throws {
        struct Refused: Error {}
        try await withDirectory { directory in
            let file = StateFile(directory: directory)
            try file.update { $0 = 1 }
            #expect(throws: Refused.self) {
                try file.update { state in
                    state = 2
                    throw Refused()
                }
            }
            #expect(try file.read() == 1)
        }
    }

    @Test(
        "what to try fits what happened",
        arguments: [
            (EACCES, "whose is it?"), (ENOSPC, "make room"), (ENOTDIR, "check the path"), (EROFS, "nothing can be written there"),
            (EIO, "see to its place and try again"),
        ])
    func advice(code: Int32, advice: String) {
        let error = SystemError(function: "open", code: code, subject: "/x")
        for (error, what) in [(StateFileError.system(error), "keep"), (.unreadable(error), "read")] {
            let text = error.description
            #expect(text.hasPrefix("cannot \(what) state: open /x: ") && text.hasSuffix("(\(advice); see --home)"), "\(text)")
        }
    }

    @Test("a state that can't be read isn't said to be one that can't be written")
    func unreadable() async throws {
        try await withDirectory { directory in
            try Data().write(to: URL(fileURLWithPath: directory + "-file"))
            defer { try? FileManager.default.removeItem(atPath: directory + "-file") }
            let inFile = StateFile(directory: directory + "-file")
            #expect(throws: StateFileError.unreadable(SystemError(function: "open", code: ENOTDIR, subject: inFile.path))) {
                try inFile.read()
            }
        }
    }

    @Test("a damaged file is refused with the place, and not overwritten")
    func damaged() async throws {
        try await withDirectory { directory in
            let file = StateFile(directory: directory)
            try file.update { $0 = 1 }
            try Data("{\"a\":1".utf8).write(to: URL(fileURLWithPath: file.path))
            let error = StateFileError.damaged(path: file.path, offset: 6)
            #expect(throws: error) { try file.read() }
            #expect(throws: error) { try file.update { $0 = 2 } }
            #expect(try Data(contentsOf: URL(fileURLWithPath: file.path)) == Data("{\"a\":1".utf8))
        }
    }
}
