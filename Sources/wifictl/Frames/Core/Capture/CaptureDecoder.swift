import FrameCodec
import SocketCore

/// What of a capture is cut into frames, and how.
struct CaptureSettings: Sendable {
    var layout = FrameLayout.standard
    var limits = FrameLimits()
    /// Streams with one of these ports on either side are cut.
    var tcpPorts: Set<UInt16> = [19_510]
    /// Besides them every stream whose opening was captured; those that turn out to be something else are passed over.
    var allStreams = false
    /// Datagrams from or to this port are taken for discovery.
    var udpPort: UInt16 = 19_510
}

/// What a capture held, for the summary.
struct CaptureCounts: Equatable, Sendable {
    var packets = 0
    var frames = 0
    var datagrams = 0
    var tcpStreams = 0
    var cutStreams = 0
    var fragments = 0
    var damaged = 0
    /// Packets with a link type that isn't known, by link type.
    var unknownLinks: [UInt16: Int] = [:]
    /// Servers' ports of streams that weren't cut, and how many streams; bounded.
    var otherPorts: [UInt16: Int] = [:]
}

/// Cuts the TCP streams of captured packets into frames, each direction for itself.
///
/// ``take(_:_:)`` each packet in the file's order, then ``finish(_:)``. A bad frame, a hole or an odd packet ends one direction
/// at most; everything else goes on.
struct CaptureDecoder {
    /// Connections kept apart at a time. Beyond it those that were silent longest make room.
    static let maximumConversations = 16_384
    /// Bytes that may wait behind holes, in all directions together.
    static let maximumPendingBytes = 64 << 20
    private static let maximumOtherPorts = 64

    private let settings: CaptureSettings
    private(set) var counts = CaptureCounts()
    private var conversations: [ConversationKey: Conversation] = [:]
    /// Bytes that wait behind holes, in all directions together.
    private(set) var pendingByteCount = 0
    private var time: CaptureTime?

    init(_ settings: CaptureSettings) { self.settings = settings }

    mutating func take(_ packet: CapturedPacket, _ emit: (CaptureEvent) -> Void) {
        counts.packets += 1
        time = packet.time
        switch PacketContent(packet) {
        case .tcp(let segment): take(segment, emit)
        case .udp(let datagram):
            guard datagram.source.port == settings.udpPort || datagram.destination.port == settings.udpPort else { return }
            counts.datagrams += 1
            emit(.datagram(CapturedDatagram(datagram), time))
        case .fragment: counts.fragments += 1
        case .damaged: counts.damaged += 1
        case .unknownLink(let type): counts.unknownLinks[type, default: 0] += 1
        case .other: break
        }
    }

    /// The capture is over: says what was left open.
    mutating func finish(_ emit: (CaptureEvent) -> Void) {
        let time = time
        for (_, conversation) in conversations.sorted(by: { $0.value.number < $1.value.number }) {
            close(conversation, emit) { $0.endOfCapture(time, emit) }
        }
        conversations = [:]
    }

    private mutating func take(_ segment: TCPSegment, _ emit: (CaptureEvent) -> Void) {
        let key = ConversationKey(segment.source, segment.destination)
        let time = time
        if let known = conversations[key], known.isReopened(by: segment) {
            close(known, emit) { $0.endOfCapture(time, emit) }
            conversations[key] = nil
        }
        if conversations[key] == nil, conversations.count >= Self.maximumConversations { makeRoom(emit) }
        var conversation = conversations[key] ?? open(segment)
        conversation.lastPacket = counts.packets
        conversation.note(segment)
        if let directions = conversation.directions {
            pendingByteCount -= directions.pendingByteCount
            directions.take(segment, time, emit)
            if pendingByteCount + directions.pendingByteCount > Self.maximumPendingBytes { directions.loseHoles(time, emit) }
            pendingByteCount += directions.pendingByteCount
            if !directions.isOpen {
                close(conversation, emit) { _ in }
                conversation.directions = nil
            }
        }
        conversations[key] = conversation
    }

    private mutating func open(_ segment: TCPSegment) -> Conversation {
        let number = counts.tcpStreams
        counts.tcpStreams += 1
        let isFromServer = segment.isSyn ? segment.acknowledgement != nil : isServer(segment.source, ratherThan: segment.destination)
        let (client, server) = isFromServer ? (segment.destination, segment.source) : (segment.source, segment.destination)
        let isNamed = settings.tcpPorts.contains(client.port) || settings.tcpPorts.contains(server.port)
        guard isNamed || settings.allStreams && segment.isSyn else {
            if counts.otherPorts[server.port] != nil || counts.otherPorts.count < Self.maximumOtherPorts {
                counts.otherPorts[server.port, default: 0] += 1
            }
            return Conversation(number: number, directions: nil)
        }
        counts.cutStreams += 1
        let directions = DirectionPair(number: number, client: client, server: server, settings, isGuess: !isNamed)
        return Conversation(number: number, directions: directions)
    }

    /// Without an opening, the side with the port that was asked for is the server, else the one with the lower port.
    private func isServer(_ one: Endpoint, ratherThan other: Endpoint) -> Bool {
        let isNamed = (settings.tcpPorts.contains(one.port), settings.tcpPorts.contains(other.port))
        return isNamed.0 == isNamed.1 ? one.port < other.port : isNamed.0
    }

    private mutating func makeRoom(_ emit: (CaptureEvent) -> Void) {
        let time = time
        let byAge = conversations.sorted { $0.value.lastPacket < $1.value.lastPacket }
        for (key, conversation) in byAge.prefix(Self.maximumConversations / 4) {
            close(conversation, emit) { $0.abandon(time, emit) }
            conversations[key] = nil
        }
    }

    /// Ends both directions in the given way and tells what came of them.
    private mutating func close(_ conversation: Conversation, _ emit: (CaptureEvent) -> Void, _ end: (StreamDirection) -> Void) {
        guard let directions = conversation.directions else { return }
        pendingByteCount -= directions.pendingByteCount
        end(directions.toServer)
        end(directions.toClient)
        let (toServer, toClient) = (directions.toServer.summary, directions.toClient.summary)
        counts.frames += toServer.frames + toClient.frames
        emit(.stream(toServer: directions.toServer.place, toServer, toClient: directions.toClient.place, toClient))
    }
}
