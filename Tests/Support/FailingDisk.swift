import Foundation
import Glibc
import SocketCore
import Synchronization

/// A directory's disk that fails when it's told to, in the way that Linux does: after a failed sync the kernel takes the pages for written,
/// though the disk hasn't got them, and later syncs succeed without them.
///
/// The kernel's view is the real files; the disk's is kept here, and is put in its place by ``cutPower()``.
package final class FailingDisk: Sendable {
    package enum Call: Hashable, CaseIterable, Sendable { case write, truncate, sync, rename, openDirectory, syncDirectory }

    private struct File {
        /// What the disk has.
        var content: [UInt8] = []
        /// Bytes that a failed sync has left behind: for the kernel they're written.
        var lost: [Range<Int>] = []
    }

    private struct State {
        var files: [Int: File] = [:]
        /// Which file has which inode now: their numbers are used again.
        var inodes: [UInt64: Int] = [:]
        var nextFile = 1
        /// Which file the disk has under which name.
        var names: [String: Int] = [:]
        /// How the next calls end: an `errno` for a failure, 0 for none.
        var fates: [Call: [Int32]] = [:]
        var log: [String] = []

        mutating func file(_ status: stat) -> Int {
            if let known = inodes[UInt64(status.st_ino)] { return known }
            defer { nextFile += 1 }
            inodes[UInt64(status.st_ino)] = nextFile
            return nextFile
        }
    }

    private let directory: String
    private let state = Mutex(State())

    package init(_ directory: String) { self.directory = directory }

    /// The calls so far, each with its file's name.
    package var log: [String] { state.withLock { $0.log } }

    /// All is well again.
    package func heal() { state.withLock { $0.fates = [:] } }

    /// The next such calls end like this: an `errno`, or 0 for success.
    package func fail(_ call: Call, _ fates: Int32...) { state.withLock { $0.fates[call] = fates } }

    private func fate(_ call: Call, _ name: String) -> Int32 {
        state.withLock {
            $0.log.append("\(call) \(name)")
            guard $0.fates[call]?.isEmpty == false else { return 0 }
            return $0.fates[call]?.removeFirst() ?? 0
        }
    }

    package var disk: JournalDisk {
        var disk = JournalDisk()
        disk.write = { [self] descriptor, bytes, count in
            let code = fate(.write, FailingDisk.name(descriptor))
            guard code == 0 else {
                // A full disk takes what it has room for.
                if count > 1, Glibc.write(descriptor, bytes, count / 2) < 0 { return -1 }
                return FailingDisk.failed(code, -1)
            }
            return Glibc.write(descriptor, bytes, count)
        }
        disk.truncate = { [self] descriptor, length in
            let code = fate(.truncate, FailingDisk.name(descriptor))
            guard code == 0 else { return FailingDisk.failed(code, -1) }
            cut(descriptor, to: length)
            return ftruncate(descriptor, off_t(length))
        }
        disk.sync = { [self] descriptor in
            let code = fate(.sync, FailingDisk.name(descriptor))
            synced(descriptor, fails: code != 0)
            return code == 0 ? 0 : FailingDisk.failed(code, -1)
        }
        disk.rename = { [self] from, to in
            let code = fate(.rename, FailingDisk.lastName(from))
            guard code == 0 else { return FailingDisk.failed(code, -1) }
            var status = stat()
            if stat(to, &status) == 0 { state.withLock { _ = $0.inodes.removeValue(forKey: UInt64(status.st_ino)) } }
            return Glibc.rename(from, to)
        }
        disk.openDirectory = { [self] path in
            let code = fate(.openDirectory, FailingDisk.lastName(path))
            return code == 0 ? open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : FailingDisk.failed(code, -1)
        }
        disk.syncDirectory = { [self] _ in
            let code = fate(.syncDirectory, FailingDisk.lastName(directory))
            if code == 0 { keepNames() }
            return code == 0 ? 0 : FailingDisk.failed(code, -1)
        }
        return disk
    }

    /// What the machine finds when it's started again.
    package func cutPower() throws {
        let (names, files) = state.withLock { ($0.names, $0.files) }
        for name in try FileManager.default.contentsOfDirectory(atPath: directory) where !name.hasSuffix(".lock") {
            try FileManager.default.removeItem(atPath: directory + "/" + name)
        }
        for (name, number) in names {
            try Data(files[number]?.content ?? []).write(to: URL(fileURLWithPath: directory + "/" + name))
        }
        // The new files are other ones, and on the disk.
        state.withLock {
            $0.files = [:]
            $0.inodes = [:]
            $0.fates = [:]
        }
        for name in names.keys {
            let descriptor = open(directory + "/" + name, O_RDWR)
            synced(descriptor, fails: false)
            close(descriptor)
        }
        keepNames()
    }

    private func synced(_ descriptor: Int32, fails: Bool) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = pread(descriptor, &bytes, bytes.count, 0)
        precondition(count == bytes.count, "the test's own file can be read")
        state.withLock { state in
            let number = state.file(status)
            var file = state.files[number] ?? File()
            if fails {
                // Whatever the disk hasn't got by now it never gets.
                let common = FailingDisk.commonCount(file.content.span, bytes.span)
                if common < bytes.count { file.lost.append(common..<bytes.count) }
            } else {
                file.content = bytes
                for range in file.lost { file.content.replaceSubrange(range, with: repeatElement(0, count: range.count)) }
            }
            state.files[number] = file
        }
    }

    /// How many bytes both begin with. A plain loop: without optimisation a lazy sequence takes ten times as long, and files are large.
    private static func commonCount(_ left: Span<UInt8>, _ right: Span<UInt8>) -> Int {
        let most = min(left.count, right.count)
        var count = 0
        while count < most, left[count] == right[count] { count += 1 }
        return count
    }

    /// What is cut off and written again is new, and isn't lost.
    private func cut(_ descriptor: Int32, to length: Int) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return }
        state.withLock { state in
            let number = state.file(status)
            guard let lost = state.files[number]?.lost else { return }
            state.files[number]?.lost = lost.map { $0.clamped(to: 0..<length) }.filter { !$0.isEmpty }
        }
    }

    private func keepNames() {
        let found = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        var kept: [String: stat] = [:]
        for name in found where !name.hasSuffix(".lock") {
            var status = stat()
            if stat(directory + "/" + name, &status) == 0 { kept[name] = status }
        }
        state.withLock { [kept] state in state.names = kept.mapValues { state.file($0) } }
    }

    private static func failed<Result>(_ code: Int32, _ result: Result) -> Result {
        errno = code
        return result
    }

    private static func name(_ descriptor: Int32) -> String {
        lastName((try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) ?? "?")
    }

    private static func lastName(_ path: String) -> String { String(path.split(separator: "/").last ?? "") }
}
