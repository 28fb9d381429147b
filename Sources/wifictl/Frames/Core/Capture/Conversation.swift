import FrameCodec
import SocketCore

/// Both ends of a connection, whichever speaks.
struct ConversationKey: Hashable, Sendable {
    private let first: Endpoint
    private let second: Endpoint

    init(_ one: Endpoint, _ other: Endpoint) {
        let isOrdered = ConversationKey.rank(one) <= ConversationKey.rank(other)
        (first, second) = isOrdered ? (one, other) : (other, one)
    }

    /// Any total order does.
    private static func rank(_ endpoint: Endpoint) -> (UInt64, UInt64, UInt16) {
        switch endpoint.address {
        case .v4(let bits): (0, UInt64(bits), endpoint.port)
        case .v6(let high, let low, _): (high, low, endpoint.port)
        }
    }
}

/// One TCP connection of a capture.
struct Conversation {
    let number: Int
    /// The packet that was its last, counted from the capture's start.
    var lastPacket = 0
    /// What is left to cut; nil for a connection that isn't cut, or that has ended.
    var directions: DirectionPair?
    /// The sequence numbers of the openings seen, to tell an opening that is sent again from a new connection's.
    private var opening: (fromClient: UInt32?, fromServer: UInt32?) = (nil, nil)

    init(number: Int, directions: DirectionPair?) {
        self.number = number
        self.directions = directions
    }

    /// Whether this segment opens another connection between the same ports.
    func isReopened(by segment: TCPSegment) -> Bool {
        guard segment.isSyn else { return false }
        guard let acknowledged = segment.acknowledgement else { return opening.fromClient != segment.sequence }
        if let known = opening.fromServer { return known != segment.sequence }
        return opening.fromClient != acknowledged &- 1
    }

    /// Remembers an opening.
    mutating func note(_ segment: TCPSegment) {
        guard segment.isSyn else { return }
        if let acknowledged = segment.acknowledgement {
            opening.fromServer = segment.sequence
            if opening.fromClient == nil { opening.fromClient = acknowledged &- 1 }
        } else {
            opening.fromClient = segment.sequence
        }
    }
}

/// The two directions of a connection that is cut.
struct DirectionPair {
    let toServer: StreamDirection
    let toClient: StreamDirection

    init(number: Int, client: Endpoint, server: Endpoint, _ settings: CaptureSettings, isGuess: Bool) {
        let direction = { (direction: StreamPlace.Direction, source: Endpoint, destination: Endpoint) in
            StreamDirection(
                StreamPlace(stream: number, direction: direction, source: source, destination: destination), layout: settings.layout,
                limits: settings.limits, isGuess: isGuess)
        }
        toServer = direction(.toServer, client, server)
        toClient = direction(.toClient, server, client)
    }

    var isOpen: Bool { toServer.isOpen || toClient.isOpen }
    /// Bytes that wait behind holes.
    var pendingByteCount: Int { toServer.assembler.pendingByteCount + toClient.assembler.pendingByteCount }

    func take(_ segment: TCPSegment, _ time: CaptureTime?, _ emit: StreamDirection.Emit) {
        let isToServer = segment.source == toServer.place.source && segment.destination == toServer.place.destination
        let (own, other) = isToServer ? (toServer, toClient) : (toClient, toServer)
        if segment.isSyn {
            own.begin(at: segment.sequence &+ 1)
            // The answer to an opening says where the opener's bytes begin, even if its own packet is missing.
            if let acknowledged = segment.acknowledgement { other.begin(at: acknowledged) }
        }
        if segment.isReset {
            own.reset(time, emit)
            other.reset(time, emit)
        } else {
            own.take(segment, time, emit)
            if let acknowledged = segment.acknowledgement { other.noteAcknowledgement(acknowledged, time, emit) }
        }
    }

    func loseHoles(_ time: CaptureTime?, _ emit: StreamDirection.Emit) {
        toServer.loseHole(time, emit)
        toClient.loseHole(time, emit)
    }
}
