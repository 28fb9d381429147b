import FrameCodec

/// A tick's records.
public struct JournalBatch: Equatable, Sendable {
    /// To be appended in one write.
    public var bytes: [UInt8]
    /// Whether the disk must have them before anything is written to the socket. What only saves work after a crash
    /// (ends of messages, messages taken) goes along with the next batch that must.
    public var mustSync: Bool
}

/// Makes a journal's records.
struct JournalWriter {
    /// Below this a journal isn't worth compacting.
    static let smallestCompaction = 256 << 10

    private var pending: [UInt8] = []
    private var mustSync = false
    private var took: [(from: UInt32, through: UInt32)] = []
    /// Bytes in the file, and those of them that messages without end take.
    private(set) var fileBytes = 0
    private var liveBytes = 0
    private var header: JournalHeader?
    private var isOutdated = false

    /// A compaction pays when three quarters of the file are over and done with; and it's how a header is changed.
    var wantsCompaction: Bool { isOutdated || fileBytes > JournalWriter.smallestCompaction && fileBytes > 4 * liveBytes }

    mutating func begin(_ header: JournalHeader) {
        self.header = header
        record(JournalWriter.headerRecord(header))
        mustSync = true
    }

    mutating func restored(_ contents: JournalContents) {
        header = contents.header
        isOutdated = contents.isOutdated
        fileBytes = contents.validByteCount
        liveBytes = contents.messages.reduce(0) { $0 + $1.body.count + FrameHeader.byteCount }
    }

    mutating func accepted(msgId: UInt32, _ body: [UInt8]) {
        append(msgId: msgId, body)
        liveBytes += body.count + FrameHeader.byteCount
        mustSync = true
    }

    mutating func settled(msgId: UInt32, bodyLength: Int, mustSync: Bool) {
        append(msgId: msgId, [])
        if mustSync { self.mustSync = true }
        liveBytes -= bodyLength + FrameHeader.byteCount
    }

    mutating func took(_ msgId: UInt32) {
        if let last = took.last, MessageID.next(after: last.through) == msgId, msgId &- last.from < DuplicateWindow.span {
            took[took.count - 1].through = msgId
        } else {
            took.append((msgId, msgId))
        }
    }

    mutating func opened(boot: String, mac: String?, reset: Bool) {
        flushTook()
        var keys: [JSONValue.Member] = [.init("boot", .string(boot))]
        if let mac { keys.append(.init("mac", .string(mac))) }
        keys.append(.init("reset", .bool(reset)))
        record(.object([.init("opened", .object(keys))]))
        mustSync = true
    }

    /// All records since the last call, with their commit.
    mutating func takeBatch() -> JournalBatch? {
        flushTook()
        guard !pending.isEmpty else { return nil }
        JournalWriter.commit(&pending)
        defer {
            fileBytes += pending.count
            pending = []
            mustSync = false
        }
        return JournalBatch(bytes: pending, mustSync: mustSync)
    }

    /// A whole journal that says the same as the present one; what was pending is in it.
    mutating func compacted(_ state: JSONValue, _ messages: [(msgId: UInt32, body: [UInt8])]) -> [UInt8] {
        pending = []
        took = []
        mustSync = false
        isOutdated = false
        if let header { record(JournalWriter.headerRecord(header)) }
        liveBytes = 0
        for message in messages { accepted(msgId: message.msgId, message.body) }
        // After the messages: the next id isn't always the one after the last message's.
        record(state)
        fileBytes = 0
        return takeBatch()?.bytes ?? []
    }

    /// The record that says all but the messages.
    static func state(next: UInt32, _ inbound: DuplicateWindow, opened: Bool, boot: String?, mac: String?) -> JSONValue {
        var keys: [JSONValue.Member] = [
            .init("next", .integer(Int64(next))), .init("received", .integer(Int64(inbound.top))),
            .init("above", .array(inbound.takenAboveTop.map { .integer(Int64($0)) })), .init("opened", .bool(opened)),
        ]
        if let boot { keys.append(.init("boot", .string(boot))) }
        if let mac { keys.append(.init("mac", .string(mac))) }
        return .object([.init("state", .object(keys))])
    }

    private mutating func flushTook() {
        guard !took.isEmpty else { return }
        let ranges = took.map { JSONValue.array([.integer(Int64($0.from)), .integer(Int64($0.through))]) }
        took = []
        record(["took": .array(ranges)])
    }

    private static func headerRecord(_ header: JournalHeader) -> JSONValue {
        var keys: [JSONValue.Member] = [
            .init("format", .integer(JournalCore.format)), .init("session", .string(header.session.description)),
            .init("role", header.role == .router ? "router" : "controller"),
        ]
        if let boot = header.machineBoot { keys.append(.init("boot", .string(boot))) }
        return .object([.init("journal", .object(keys))])
    }

    private static func commit(_ bytes: inout [UInt8]) {
        let record: JSONValue = ["commit": .string(HexText.digits(JournalCore.checksum(bytes.span.bytes)))]
        write(msgId: 0, record.encoded(), to: &bytes)
    }

    private mutating func record(_ value: JSONValue) { append(msgId: 0, value.encoded()) }

    private mutating func append(msgId: UInt32, _ body: [UInt8]) {
        JournalWriter.write(msgId: msgId, body, to: &pending)
    }

    private static func write(msgId: UInt32, _ body: [UInt8], to bytes: inout [UInt8]) {
        do {
            try JournalCore.encoder.encode(msgId: msgId, body: body.span.bytes, into: &bytes)
        } catch {
            preconditionFailure("a message's length is checked when it's accepted: \(error)")
        }
    }
}

extension JournalContents {
    /// A whole journal that says this, and nothing else.
    func rewritten() -> [UInt8] {
        var writer = JournalWriter()
        writer.restored(self)
        let state = JournalWriter.state(next: nextId, inbound, opened: hasOpened, boot: boot, mac: mac)
        return writer.compacted(state, messages.map { ($0.msgId, $0.body) })
    }
}
