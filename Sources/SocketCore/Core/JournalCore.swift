import FrameCodec

/// The outbox journal's format: what must outlive the process, as frames (design.md, "State that outlives the process").
///
/// | frame | says |
/// |---|---|
/// | id, body | this message was accepted: the frame as it is sent |
/// | id, no body | this message has ended: the receipt as it is received |
/// | id 0, `{"journal":{"format":1,"session":…,"role":…}}` | first of a journal: whose it is; with `boot`, nobody waits for the disk |
/// | id 0, `{"opened":{"boot":…,"mac":…,"reset":…}}` | the session stood; with `reset` the peer's ids began anew |
/// | id 0, `{"took":[[5,9],[11,11]]}` | the application took the peer's messages with these ids, from and to |
/// | id 0, `{"state":{…}}` | all of the above in one, after a compaction |
/// | id 0, `{"commit":"<16 hex>"}` | checksum of all bytes since the previous commit |
///
/// Frames count only once a commit follows them: what was torn off by a crash or a power cut was never reported as
/// accepted. Layout is always `standard` and the version 1, whatever the session speaks.
public enum JournalCore {
    static let limits = FrameLimits(maximumBodyLength: maximumBodyLength, versions: 1...1)
    static let encoder = FrameEncoder(limits: limits)
    /// Above the largest message that anybody would configure; a larger length is damage.
    static let maximumBodyLength = 64 << 20
    static let format: Int64 = 1

    /// FNV-1a over eight bytes at a time, little-endian, the last ones padded with zeros, then the count: finds torn and zeroed
    /// pages. It's no protection against somebody who wants to deceive.
    static func checksum(_ bytes: RawSpan) -> UInt64 {
        bytes.withUnsafeBytes { raw in
            var hash: UInt64 = 0xCBF2_9CE4_8422_2325
            let whole = raw.count & ~7
            for offset in stride(from: 0, to: whole, by: 8) {
                let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
                hash = (hash ^ word) &* 0x0000_0100_0000_01B3
                hash ^= hash >> 29
            }
            var word: UInt64 = 0
            for offset in whole..<raw.count { word |= UInt64(raw[offset]) << UInt64(8 * (offset - whole)) }
            for last in [word, UInt64(raw.count)] {
                hash = (hash ^ last) &* 0x0000_0100_0000_01B3
                hash ^= hash >> 29
            }
            return hash
        }
    }

    /// Reads a journal.
    ///
    /// - Returns: all that was committed, and what is to be done about the rest.
    /// - Throws: ``JournalError/foreign`` when the file is something else; nothing of it may be touched then.
    public static func read(_ bytes: RawSpan) throws(JournalError) -> JournalContents? {
        var reader = JournalReader()
        return try reader.read(bytes)
    }
}

/// Whose journal it is.
public struct JournalHeader: Equatable, Sendable {
    /// The session.
    public var session: SessionIdentifier
    /// Which end wrote it.
    public var role: SessionConfiguration.Role
    /// The boot of the machine that it was begun in, if its writer doesn't wait for the disk: it holds all that was accepted only as
    /// long as that boot lasts. nil when the disk is waited for, or the system names no boot.
    public var machineBoot: String?
}

/// Why a file isn't used as a journal.
public enum JournalError: Error, Equatable, Sendable, CustomStringConvertible {
    /// It doesn't begin like a journal: somebody else's file.
    case foreign
    /// It's a journal of a later format than this program knows.
    case laterFormat(Int64)

    /// A clause for people.
    public var description: String {
        switch self {
        case .foreign: "it doesn't begin like one"
        case .laterFormat(let number): "its format, \(number), is a later one than this program knows"
        }
    }
}

/// What was wrong behind the part of a journal that is kept.
public enum JournalRemark: Equatable, Sendable, CustomStringConvertible {
    /// The last bytes are unfinished: the process or the machine died while writing. Nothing accepted is lost.
    case tornTail(offset: Int, bytes: Int)
    /// Finished bytes don't match their checksum or are no frames: the file was damaged. What is behind can't be trusted.
    case damaged(offset: Int, bytes: Int, reason: String)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .tornTail(let offset, let bytes): "\(bytes) unfinished bytes at \(offset) cut off: they were never reported as accepted"
        case .damaged(let offset, let bytes, let reason): "\(bytes) damaged bytes at \(offset) set aside: \(reason)"
        }
    }
}

/// What a journal holds.
public struct JournalContents: Equatable, Sendable {
    /// A message without outcome.
    public struct Message: Equatable, Sendable {
        /// Its id.
        public var msgId: UInt32
        /// Its body.
        public var body: [UInt8]
    }

    /// Whose it is.
    public var header: JournalHeader
    /// Messages without outcome, in the order accepted.
    public internal(set) var messages: [Message] = []
    /// Bytes that hold: the file is cut here before it's written on.
    public internal(set) var validByteCount = 0
    /// What was behind them.
    public internal(set) var remark: JournalRemark?
    /// Whether the session ever stood.
    public internal(set) var hasOpened = false
    /// The router's last boot.
    public internal(set) var boot: String?
    /// The router's MAC.
    public internal(set) var mac: String?
    /// The id for the next message.
    public package(set) var nextId: UInt32 = 1
    var inbound = DuplicateWindow()
    /// The file says something else about its header than is true from now on: it's replaced at the first commit.
    var isOutdated = false

    init(header: JournalHeader) { self.header = header }

    /// Puts the journal under the policy that it's kept by from now on, and takes the loss into account that the one before allowed.
    ///
    /// Records that nobody waited for may be missing after the machine's end: messages, whose ids would be used again, and what was
    /// taken. The peer's memory of the session says of those ids what isn't true of the messages to come. So the session can't be gone on
    /// with: what the journal has goes over to a new one, as if the peer had lost its memory (``SessionConfiguration/MemoryLoss``).
    ///
    /// - Parameters:
    ///   - present: the machine's boot; nil when the system doesn't name it.
    ///   - waitsForDisk: whether each accepted message is waited for from now on.
    ///   - successor: the new session's name; a router's is its controller's to choose, and stays.
    /// - Returns: whether the session was begun anew.
    package mutating func goOn(inBoot present: String?, waitsForDisk: Bool, successor: SessionIdentifier) -> Bool {
        let mayHaveGaps = header.machineBoot != nil && header.machineBoot != present
        if mayHaveGaps {
            inbound = DuplicateWindow()
            switch header.role {
            case .controller:
                header.session = successor
                // The hello asks to resume what no router knows: so it's told to be lost, by the rules for lost memory.
                hasOpened = true
            case .router: hasOpened = false
            }
        }
        let kept = waitsForDisk ? nil : present
        isOutdated = mayHaveGaps || header.machineBoot != kept
        header.machineBoot = kept
        return mayHaveGaps
    }

    /// A session in which everything is settled and ids have come this far, for tests of what happens when they begin anew.
    package init(session: SessionIdentifier, role: SessionConfiguration.Role, nextId: UInt32, received: UInt32) {
        self.init(header: JournalHeader(session: session, role: role))
        self.nextId = nextId
        inbound = DuplicateWindow(top: received, above: [])
        hasOpened = true
    }

    package mutating func add(msgId: UInt32, body: [UInt8]) { messages.append(Message(msgId: msgId, body: body)) }
}

/// Reads a journal's frames, group by group.
private struct JournalReader {
    private var contents: JournalContents?
    private var group: [Frame] = []
    private var groupStart = 0
    private var offset = 0
    private var damage: String?
    private var refusal: JournalError?

    init() {}

    mutating func read(_ bytes: RawSpan) throws(JournalError) -> JournalContents? {
        var decoder = FrameDecoder(limits: JournalCore.limits)
        do throws(FrameError) {
            try decoder.decode(bytes) { header, body in
                take(header, body, bytes)
                return damage == nil && refusal == nil ? .more : .stop
            }
        } catch {
            damage = "no frame: \(error)"
        }
        if let refusal { throw refusal }
        guard var contents else {
            // A journal's first group may be torn; anything else that doesn't begin like one belongs to somebody else.
            guard damage == nil, JournalReader.beginsLikeJournal(bytes) else { throw .foreign }
            return nil
        }
        let rest = bytes.byteCount - groupStart
        contents.validByteCount = groupStart
        if let damage {
            contents.remark = .damaged(offset: groupStart, bytes: rest, reason: damage)
            // Ids of lost messages must not be used again: the peer may know them. A message takes at least 11 bytes.
            contents.nextId = contents.nextId &+ UInt32(rest / 11 + 1)
            if contents.nextId == 0 { contents.nextId = 1 }
        } else if rest > 0 {
            contents.remark = .tornTail(offset: groupStart, bytes: rest)
        }
        return contents
    }

    private mutating func take(_ header: FrameHeader, _ body: RawSpan, _ bytes: RawSpan) {
        let frame = Frame(header, body)
        let start = offset
        offset += header.frameByteCount
        guard frame.msgId == 0, let record = try? JSONValue.parse(frame.body), let commit = record["commit"]?.stringValue else {
            group.append(frame)
            return
        }
        guard UInt64(commit, radix: 16) == JournalCore.checksum(bytes.extracting(groupStart..<start)) else {
            damage = "its checksum doesn't match"
            return
        }
        for frame in group where damage == nil && refusal == nil { apply(frame) }
        group = []
        if damage == nil, refusal == nil { groupStart = offset }
    }

    /// Whether bytes that are too few for a header could be the beginning of one.
    private static func beginsLikeJournal(_ bytes: RawSpan) -> Bool {
        let body = Array("{\"journal\":".utf8)
        let start: [UInt8] = [0, 0, 0, 0, 0, 1]
        for index in 0..<min(bytes.byteCount, FrameHeader.byteCount + body.count) {
            let byte = bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self)
            if index < start.count, byte != start[index] { return false }
            if index >= FrameHeader.byteCount, byte != body[index - FrameHeader.byteCount] { return false }
        }
        return true
    }

    private static func isHeader(_ frame: Frame) -> JSONValue? {
        guard frame.msgId == 0, let header = (try? JSONValue.parse(frame.body))?["journal"], header.objectValue != nil else { return nil }
        return header
    }

    private mutating func apply(_ frame: Frame) {
        guard contents != nil else { return begin(frame) }
        guard frame.msgId == 0 else {
            if frame.body.isEmpty {
                contents?.messages.removeAll { $0.msgId == frame.msgId }
            } else {
                contents?.messages.append(.init(msgId: frame.msgId, body: frame.body))
                contents?.nextId = MessageID.next(after: frame.msgId)
            }
            return
        }
        guard let record = try? JSONValue.parse(frame.body) else {
            damage = "a record isn't JSON"
            return
        }
        if let opened = record["opened"] { applyOpened(opened) }
        if let ranges = record["took"]?.arrayValue { applyTook(ranges) }
        if let state = record["state"] { applyState(state) }
    }

    private mutating func begin(_ frame: Frame) {
        guard let header = JournalReader.isHeader(frame), let text = header["session"]?.stringValue,
            let session = SessionIdentifier(text), let role = header["role"]?.stringValue, let format = header["format"]?.integerValue
        else {
            refusal = .foreign
            return
        }
        guard format <= JournalCore.format else {
            refusal = .laterFormat(format)
            return
        }
        contents = JournalContents(
            header: JournalHeader(
                session: session, role: role == "router" ? .router : .controller, machineBoot: header["boot"]?.stringValue))
    }

    private mutating func applyOpened(_ opened: JSONValue) {
        contents?.hasOpened = true
        contents?.boot = opened["boot"]?.stringValue
        if let mac = opened["mac"]?.stringValue { contents?.mac = mac }
        if opened["reset"]?.boolValue == true { contents?.inbound = DuplicateWindow() }
    }

    private mutating func applyTook(_ ranges: [JSONValue]) {
        for range in ranges {
            guard let ends = range.arrayValue, ends.count == 2, let from = JournalReader.identifier(ends[0]),
                let through = JournalReader.identifier(ends[1]), through &- from < DuplicateWindow.span
            else {
                damage = "a record names no ids"
                return
            }
            var id = from
            while true {
                contents?.inbound.insert(id)
                contents?.inbound.take(id)
                if id == through { break }
                id = MessageID.next(after: id)
            }
        }
    }

    private mutating func applyState(_ state: JSONValue) {
        guard let next = state["next"].flatMap(JournalReader.identifier), let top = state["received"].flatMap(JournalReader.identifier),
            let above = state["above"]?.arrayValue
        else {
            damage = "a state lacks a key"
            return
        }
        contents?.nextId = next
        contents?.inbound = DuplicateWindow(top: top, above: above.compactMap(JournalReader.identifier))
        contents?.hasOpened = state["opened"]?.boolValue ?? false
        contents?.boot = state["boot"]?.stringValue
        contents?.mac = state["mac"]?.stringValue
    }

    private static func identifier(_ value: JSONValue) -> UInt32? { value.integerValue.flatMap(UInt32.init(exactly:)) }
}
