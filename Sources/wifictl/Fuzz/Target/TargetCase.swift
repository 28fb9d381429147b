import FrameCodec
import SocketCore

/// One thing done to a device: what is sent over one connection, and what the protocol lets it do then.
struct TargetCase: Equatable, Sendable {
    /// How the connection begins.
    enum Opening: String, Sendable { case hello, raw }
    /// How it ends.
    enum Closing: String, Sendable { case close, halfClose, reset }

    /// What the device must do.
    enum Expectation: Equatable, Sendable {
        /// Stay alive; whatever else it does with this connection is its own affair.
        case survive
        /// Keep the connection and receipt these ids, each at least once.
        case receipts([UInt32])
        /// Take nothing that follows the error: this id, sent behind it, is not receipted.
        case rejection(of: UInt32)
    }

    /// What is odd about it, in a few words; cases of one kind count as one when they fail alike.
    var kind: String
    var opening = Opening.hello
    /// The writes, in order; each leaves by itself.
    var writes: [[UInt8]] = []
    /// The pause between two writes.
    var pause = Duration.zero
    /// Further connections that send the same and are kept until the case is over.
    var companions = 0
    var closing = Closing.close
    var expectation = Expectation.survive
    /// Ids of all well-formed messages in `writes`: a receipt for another one is wrong.
    var sentIds: [UInt32] = []

    var byteCount: Int { writes.reduce(0) { $0 + $1.count } }
}

/// What one case came to.
struct TargetOutcome: Equatable, Sendable {
    enum Ending: Equatable, Sendable {
        /// Open until we closed it.
        case open
        /// The device closed it in order.
        case closed
        /// It broke, with the system's reason.
        case broken(String)
    }

    /// Nil when the connection stood; else why it didn't.
    var connectFailure: String?
    /// From the hello's last byte sent to the answer; nil when none was asked for or none came.
    var helloTime: Duration?
    /// The device's boot id, from its hello.
    var boot: String?
    /// Whether a hello was sent and no answer came in time.
    var helloMissing = false
    /// Whether what came in place of a hello is TLS.
    var speaksTLS = false
    /// What came after the hello.
    var received: [UInt8] = []
    var ending = Ending.open

    /// Whether the device could be talked to at all before the case began.
    var isHealthy: Bool { connectFailure == nil && !helloMissing }
}

/// What is wrong with a device.
enum TargetFault: String, CaseIterable, Sendable {
    /// It has another boot id than before, or refused connections for a while and came back.
    case crash
    /// It doesn't accept connections any more.
    case refusal
    /// It accepts connections and doesn't answer.
    case hang
    /// It receipted an id that was never sent.
    case wrongReceipt
    /// It kept the connection and didn't receipt a message.
    case lostReceipt
    /// It closed the connection on well-formed frames.
    case closedOnGood
    /// It went on after a header that can't be right.
    case acceptsMalformed
    /// What it sent is no frame.
    case badAnswer
    /// Its answers take longer and longer.
    case slowing

    /// One sentence for the report.
    var meaning: String {
        switch self {
        case .crash: "The device restarted: its boot id changed, or it refused connections for a while."
        case .refusal: "The device does not accept connections any more and did not come back."
        case .hang: "The device accepts connections but does not answer any more."
        case .wrongReceipt: "The device sent a receipt for a message that it was never sent."
        case .lostReceipt: "The device kept the connection but did not receipt a message that asks for it."
        case .closedOnGood: "The device closed the connection although everything sent was well-formed."
        case .acceptsMalformed: "The device went on reading after a header that ends the stream (protocol section 1)."
        case .badAnswer: "What the device sent is not a stream of frames."
        case .slowing: "The device answers more and more slowly, as one does that runs out of memory."
        }
    }
}
