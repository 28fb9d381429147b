import FrameCodec
import SocketCore

/// Makes what a controller sends, rightly or wrongly, and draws the names that have to be new.
struct ConformBytes {
    let layout: FrameLayout
    private var dice: SeededGenerator

    init(layout: FrameLayout, seed: UInt64) {
        self.layout = layout
        dice = SeededGenerator(seed: seed)
    }

    /// A session's name that nobody has.
    mutating func session() -> String { SessionIdentifier(high: dice.next(), low: dice.next()).description }

    mutating func nonce() -> String { SessionIdentifier(high: 0, low: dice.next()).description.suffix(16).description }

    mutating func probeId() -> UInt32 { UInt32(truncatingIfNeeded: dice.next()) | 1 }

    /// A header alone, whatever it declares.
    func header(_ msgId: UInt32, version: UInt16 = 1, declares length: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        HeaderWriter.append(
            msgId: msgId, version: version, lengthField: HostileValues.lengthField(length, layout), layout, to: &bytes)
        return bytes
    }

    func frame(_ msgId: UInt32, _ body: [UInt8] = [], version: UInt16 = 1) -> [UInt8] {
        header(msgId, version: version, declares: body.count) + body
    }

    func frame(_ msgId: UInt32, _ text: String, version: UInt16 = 1) -> [UInt8] { frame(msgId, Array(text.utf8), version: version) }

    /// A hello with these keys, in a frame with that id.
    func hello(_ keys: [(String, JSONValue)], msgId: UInt32 = 0) -> [UInt8] {
        frame(msgId, JSONValue.object([.init("hello", .object(keys.map { .init($0.0, $0.1) }))]).encoded())
    }

    func hello(_ session: String, resume: Bool = false, received: UInt32 = 0) -> [UInt8] {
        hello(ConformBytes.keys(session, resume: resume, received: received))
    }

    static func keys(_ session: String, resume: Bool = false, received: UInt32 = 0) -> [(String, JSONValue)] {
        [
            ("session", .string(session)), ("versions", [1]), ("received", .whole(received)), ("client", "wifictl conform"),
            ("resume", .bool(resume)),
        ]
    }

    /// A probe of at least `least` bytes.
    static func probe(_ msgId: UInt32, _ keys: [(String, JSONValue)], least: Int = 400) -> [UInt8] {
        func datagram(_ pad: Int) -> [UInt8] {
            let padding = pad > 0 ? [("pad", JSONValue.string(String(repeating: ".", count: pad)))] : []
            let body = JSONValue.object([.init("probe", .object((keys + padding).map { .init($0.0, $0.1) }))]).encoded()
            return ConformBytes(layout: .standard, seed: 0).frame(msgId, body)
        }
        let bare = datagram(0)
        // `,"pad":""` itself takes 9 bytes.
        return bare.count >= least ? bare : datagram(max(1, least - bare.count - 9))
    }
}
