import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

@Suite("Locks among processes")
struct FileLockTests {
    func isFree(_ path: String) throws -> Bool {
        guard let lock = try FileLock.take(path) else { return false }
        lock.release()
        return true
    }

    @Test("one holder at a time, and the next one when it's given back")
    func exclusive() throws {
        let path = try TemporaryDirectory().path + ".lock"
        defer { unlink(path) }
        do {
            let lock = try FileLock.wait(for: path)
            #expect(try !isFree(path))
            lock.release()
        }
        #expect(try isFree(path))
    }

    @Test("given back although a child that is being started still holds a copy of its descriptor")
    func copiedDescriptor() throws {
        let path = try TemporaryDirectory().path + ".lock"
        defer { unlink(path) }
        var copies: [Int32] = []
        do {
            let lock = try FileLock.wait(for: path)
            for number in try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap({ Int32($0) }) {
                let target = try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(number)")
                if target == path { copies.append(dup(number)) }
            }
            lock.release()
        }
        #expect(!copies.isEmpty)
        #expect(try isFree(path))
        for copy in copies { close(copy) }
    }
}
