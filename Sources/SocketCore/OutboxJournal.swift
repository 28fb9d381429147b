import Glibc

/// The file behind ``JournalCore``: what `send` accepted survives the process and, by default, a power cut.
///
/// One process at a time holds a journal, by a lock on `<path>.lock` (the journal itself is replaced when it's compacted, and
/// a lock would go with the old file). Files are private (0600).
///
/// A session's shell calls ``commit(_:)`` before it writes to the socket and before it reports a message as accepted.
public struct OutboxJournal: ~Copyable {
    /// When the disk is waited for.
    public enum SyncPolicy: Sendable, Equatable {
        /// Before a message is reported as accepted: a power cut loses nothing that was. One `fdatasync` a tick, however many
        /// messages the tick has. The default.
        case everyCommit
        /// Never: what was accepted survives the process (`kill -9` included) but not a power cut or a kernel crash. Ids of messages
        /// lost by one would be used again; so the journal names the boot that it was written in, and after another boot what it still
        /// has goes over to a new session, by ``SessionConfiguration/memoryLoss``.
        case never
    }

    /// A journal larger than this isn't one of ours: compaction keeps them below 40 MiB.
    private static let largestFile = 256 << 20

    /// What the file held; nil for a new journal. Give it to ``SessionCore/init(_:restoring:seed:now:)``.
    public let contents: JournalContents?
    /// Sentences about what wasn't as it should be, for the log.
    public let remarks: [String]
    /// Where it lies.
    public let path: String
    private let sync: SyncPolicy
    /// The boot that a new journal's header names: see ``JournalHeader/machineBoot``.
    let machineBoot: String?
    private let lock: FileLock
    private let disk: JournalDisk
    private var file: JournalFile
    private var length: Int
    /// Records on their way; after a full disk they're still here and go first next time.
    private var unwritten: [UInt8] = []
    private var isSyncDue = false
    /// Nobody knows whether the disk has what the file seems to hold: nothing is appended, and the next commit writes a whole new one.
    ///
    /// A kernel that has told of a failed sync takes the pages for written, so that the next sync succeeds without them. It may have told
    /// an earlier process, so that each begins like this.
    private var isReplacementDue: Bool

    /// Opens or makes a journal, and puts it in order.
    ///
    /// - Throws: ``OutboxJournalError``; ``OutboxJournalError/inUse(path:)`` when another process holds it.
    public static func open(_ path: String, sync: SyncPolicy = .everyCommit) throws(OutboxJournalError) -> OutboxJournal {
        try open(path, sync: sync, boot: SystemCalls.bootIdentifier())
    }

    /// `boot`: the machine's present one; nil when the system doesn't name it. `disk`: what stands between the journal and the kernel.
    package static func open(
        _ path: String, sync: SyncPolicy, boot: String?, disk: JournalDisk = .kernel
    ) throws(OutboxJournalError) -> OutboxJournal {
        let lock = try takeLock(path)
        var opened = try JournalFile(path, disk)
        let bytes = try opened.readAll(limit: OutboxJournal.largestFile)
        var remarks: [String] = []
        var found: JournalContents?
        do throws(JournalError) {
            guard let bytes else { throw .foreign }
            found = try JournalCore.read(bytes.span.bytes)
        } catch {
            let aside = try JournalFile.freeName(path + ".foreign")
            try JournalFile.rename(path, to: aside, disk)
            remarks.append("\(path) is no journal of ours (\(error)); moved to \(aside)")
            opened = try JournalFile(path, disk)
        }
        if let remark = found?.remark {
            remarks.append("\(path): \(remark)")
            if case .damaged(let offset, _, _) = remark, let bytes {
                let aside = try keepAside(bytes.span.bytes.extracting(droppingFirst: offset), of: path, sync, disk)
                remarks.append("the damaged part is kept in \(aside)")
                // A cut would take with it which ids are out of use.
                if let whole = found?.rewritten() {
                    opened = try write(whole, beside: path, sync, disk)
                    try JournalFile.rename(beside(path), to: path, disk)
                    found?.validByteCount = whole.count
                }
            }
        }
        if found?.goOn(inBoot: boot, waitsForDisk: sync == .everyCommit, successor: .random()) == true {
            remarks.append("\(path) was written without waiting for the disk, before the machine was started again: a new session begins")
        }
        try opened.truncate(to: found?.validByteCount ?? 0)
        let kept = sync == .everyCommit ? nil : boot
        return OutboxJournal(
            contents: found, remarks: remarks, path: path, sync: sync, machineBoot: kept, lock: lock, disk: disk, file: opened)
    }

    /// Keeps bytes under a name of their own, on the disk before anything else happens to the place that they're from.
    private static func keepAside(
        _ bytes: RawSpan, of path: String, _ sync: SyncPolicy, _ disk: JournalDisk
    ) throws(OutboxJournalError) -> String {
        let aside = try JournalFile.freeName(path + ".damaged")
        let copy = try JournalFile(aside, disk)
        do throws(OutboxJournalError) {
            try copy.append(bytes)
            if sync == .everyCommit {
                try copy.sync()
                try JournalFile.syncDirectory(of: path, disk)
            }
        } catch {
            // Half a copy would stay at each try; the original is still whole.
            try JournalFile.remove(aside)
            throw error
        }
        return aside
    }

    private static func takeLock(_ path: String) throws(OutboxJournalError) -> FileLock {
        let lock: FileLock?
        do throws(SystemError) { lock = try FileLock.take(path + ".lock") } catch {
            throw .system(call: error.function, path: error.subject, errno: error.code)
        }
        guard let lock else { throw .inUse(path: path) }
        return lock
    }

    private init(
        contents: JournalContents?, remarks: [String], path: String, sync: SyncPolicy, machineBoot: String?,
        lock: consuming FileLock, disk: JournalDisk, file: consuming JournalFile
    ) {
        self.contents = contents
        self.remarks = remarks
        self.path = path
        self.sync = sync
        self.machineBoot = machineBoot
        self.lock = lock
        self.disk = disk
        self.file = file
        length = contents?.validByteCount ?? 0
        isReplacementDue = sync == .everyCommit || contents?.isOutdated == true
    }

    /// Appends what the core has to say, syncs where that is asked, and compacts when it pays.
    ///
    /// - Throws: ``OutboxJournalError``. The session may go on reading, but nothing may be reported as accepted and nothing
    ///   written to the socket until a later call succeeds, which tries these records again.
    public mutating func commit(_ core: inout SessionCore) throws(OutboxJournalError) {
        if let held = contents?.header.session, held != core.session { throw .unfit(path: path, .otherSession(held)) }
        // What wasn't appended is in there as well.
        if isReplacementDue { return try replace(with: core.compactJournal()) }
        if let batch = core.takeJournal() {
            unwritten += batch.bytes
            isSyncDue = isSyncDue || batch.mustSync
        }
        try append()
        try waitForDisk()
        if core.journalWantsCompaction { try replace(with: core.compactJournal()) }
    }

    private mutating func append() throws(OutboxJournalError) {
        guard !unwritten.isEmpty else { return }
        do throws(OutboxJournalError) {
            try file.append(unwritten.span.bytes)
        } catch {
            // A half-written batch would look like damage to the next reader once something follows it.
            isReplacementDue = true
            try file.truncate(to: length)
            isReplacementDue = false
            throw error
        }
        length += unwritten.count
        unwritten.removeAll(keepingCapacity: true)
    }

    private mutating func waitForDisk() throws(OutboxJournalError) {
        guard isSyncDue else { return }
        if sync == .everyCommit {
            isReplacementDue = true
            try file.sync()
            isReplacementDue = false
        }
        isSyncDue = false
    }

    /// Writes a whole journal, with all that the core knows, in place of the present one.
    private mutating func replace(with bytes: [UInt8]) throws(OutboxJournalError) {
        let fresh = try OutboxJournal.write(bytes, beside: path, sync, disk)
        // Until the directory is synced a power cut may bring the old file back; if it's told to have failed, the new one may be there.
        isReplacementDue = true
        try JournalFile.rename(OutboxJournal.beside(path), to: path, disk)
        // The name is the new file's from here on, whatever else fails.
        file = fresh
        length = bytes.count
        unwritten = []
        isSyncDue = false
        if sync == .everyCommit { try JournalFile.syncDirectory(of: path, disk) }
        isReplacementDue = false
    }

    private static func beside(_ path: String) -> String { path + ".new" }

    /// Writes a file that is to take the journal's place, as a whole: whenever the machine stops, one whole journal lies there.
    private static func write(
        _ bytes: [UInt8], beside path: String, _ sync: SyncPolicy, _ disk: JournalDisk
    ) throws(OutboxJournalError) -> JournalFile {
        let fresh = try JournalFile(beside(path), disk, name: path)
        try fresh.truncate(to: 0)
        try fresh.append(bytes.span.bytes)
        if sync == .everyCommit { try fresh.sync() }
        return fresh
    }

    /// Deletes the journal: its session is over.
    public consuming func remove() throws(OutboxJournalError) {
        try JournalFile.remove(path)
    }
}

extension OutboxJournalError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String {
        switch self {
        case .unfit(let path, let misfit): "the journal \(path) \(misfit)"
        case .inUse(let path): "the journal \(path) is in use by another process; wait for it or use another state directory"
        case .system(let call, let path, let code): "cannot keep the journal \(path): \(call): \(String(cString: strerror(code)))"
        }
    }
}
