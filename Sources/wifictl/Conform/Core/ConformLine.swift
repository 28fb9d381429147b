import FrameCodec
import SocketCore

/// One connection as it looks afterwards: the router's frames with their times, and how it ended.
struct ConformLine: Sendable {
    struct TimedFrame: Equatable, Sendable {
        var frame: Frame
        var at: Instant

        /// A receipt: an id and no body.
        var isReceipt: Bool { frame.msgId != 0 && frame.body.isEmpty }
        /// A message that wants a receipt.
        var isMessage: Bool { frame.msgId != 0 && !frame.body.isEmpty }
        var isHeartbeat: Bool { frame.msgId == 0 && frame.body.isEmpty }
        var json: JSONValue? { try? JSONValue.parse(frame.body) }
    }

    private(set) var opened: Instant?
    /// Why no connection came about.
    private(set) var refusal: String?
    /// When our writes left.
    private(set) var sent: [Instant] = []
    private(set) var bytes: [(byte: [UInt8], at: Instant)] = []
    private(set) var ended: Instant?
    private(set) var ending: String?

    init(_ events: [ConformTranscript.Event]) {
        for event in events {
            switch event.what {
            case .opened: opened = event.at
            case .refused(let reason): refusal = reason
            case .sent: sent.append(event.at)
            case .received(let bytes): self.bytes.append((bytes, event.at))
            case .ended(let reason): (ended, ending) = (event.at, reason)
            case .probed, .datagram: break
            }
        }
    }

    /// The router's frames, each with the time at which its last byte came; and what was wrong with the stream.
    func frames(_ layout: FrameLayout) -> (frames: [TimedFrame], error: FrameError?) {
        let answer = ReferenceDecoder(layout: layout).answer(to: bytes.flatMap(\.byte), ended: false)
        var chunks = bytes[...]
        var have = 0
        var need = 0
        var at = opened ?? .zero
        let frames = answer.frames.map { frame in
            need += FrameHeader.byteCount + frame.body.count
            while have < need, let chunk = chunks.popFirst() { (have, at) = (have + chunk.byte.count, chunk.at) }
            return TimedFrame(frame: frame, at: at)
        }
        return (frames, answer.error)
    }

    /// All frames but the hello.
    func afterHello(_ layout: FrameLayout) -> [TimedFrame] { Array(frames(layout).frames.dropFirst()) }

    func receipts(_ layout: FrameLayout) -> [UInt32] { afterHello(layout).filter(\.isReceipt).map(\.frame.msgId) }

    func messages(_ layout: FrameLayout) -> [TimedFrame] { afterHello(layout).filter(\.isMessage) }

    /// Which of our requests have been answered, in the sample vocabulary.
    func answered(_ layout: FrameLayout) -> Set<Int64> { Set(afterHello(layout).compactMap { $0.json?["re"]?.integerValue }) }

    /// The router's hello, if its first frame is one; keys aren't checked.
    func hello(_ layout: FrameLayout) -> JSONValue? { frames(layout).frames.first?.json?["hello"] }
}
