import FrameCodec
import SocketCore

/// Which direction of which TCP connection something belongs to.
struct StreamPlace: Equatable, Sendable {
    enum Direction: String, Sendable {
        case toServer
        case toClient
    }

    /// The connection's number, counted from 0 over all of the capture's TCP connections, as Wireshark counts them.
    let stream: Int
    let direction: Direction
    let source: Endpoint
    let destination: Endpoint
}

/// Why a direction couldn't be cut to its end.
enum StreamLoss: Equatable, Sendable {
    /// Bytes were never captured; `isCut` when the capture kept only the start of packets.
    case missing(byteCount: Int, isCut: Bool)
    /// The bytes are TLS records: nothing can be seen without the keys.
    case encrypted
    /// More connections at a time than are kept apart.
    case tooMany
}

/// What is known of one direction when the connection or the capture has ended.
struct DirectionSummary: Equatable, Sendable {
    var frames = 0
    var byteCount = 0
    var repeatedByteCount = 0
    var earlySegmentCount = 0
    var conflictingByteCount = 0
    /// Bytes of an unfinished frame at the end, and how the direction ended.
    var heldByteCount = 0
    var end = DirectionEnd.open
}

/// How far a direction came.
enum DirectionEnd: String, Equatable, Sendable {
    /// The capture ended first.
    case open
    /// By the connection's regular end.
    case finished
    /// By a reset.
    case reset
    /// By an error or a loss that was told.
    case failed
    /// Not cut, because its bytes are TLS records.
    case encrypted
    /// Taken for another protocol: its very first header was none, on a stream that nobody named.
    case foreign
}

/// What cutting a capture brings to light, in the order of the packets.
enum CaptureEvent {
    case frame(StreamPlace, CaptureTime?, offset: UInt64, Frame)
    /// A frame that can't be right; its direction ends there.
    case error(StreamPlace, CaptureTime?, FrameErrorReport)
    /// A direction ends at `offset` without an error in its frames.
    case loss(StreamPlace, CaptureTime?, offset: UInt64, StreamLoss)
    /// The start of a direction wasn't captured, so that its first frame may be cut wrong.
    case lateStart(StreamPlace, CaptureTime?)
    case datagram(CapturedDatagram, CaptureTime?)
    /// A connection has ended, or the capture has.
    case stream(toServer: StreamPlace, DirectionSummary, toClient: StreamPlace, DirectionSummary)
}
