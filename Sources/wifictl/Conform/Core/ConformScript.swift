import SocketCore

/// One thing to do to a router. Connections and UDP sockets have numbers, given by the script that opens them.
enum ConformStep: Equatable, Sendable {
    /// How a connection is opened where the router speaks TLS; without TLS all are the same.
    enum Guise: Equatable, Sendable {
        /// As the user's identity.
        case operatorsOwn
        /// With TLS but without a certificate.
        case stranger
        /// In the clear.
        case plaintext
    }

    /// What ends listening before its time.
    enum Until: Equatable, Sendable {
        /// Nothing.
        case time
        /// The first connection has brought that many frames since it was opened.
        case frames(Int)
        /// The first connection has brought receipts for all of these.
        case receipts(Set<UInt32>)
        /// The first connection has brought that many messages with an id and a body.
        case messages(Int)
        /// The first connection has brought the answers to these requests of ours.
        case answers(Set<Int64>)
        /// All of them have ended.
        case ended
    }

    case open(Int, Guise = .operatorsOwn)
    case send(Int, [UInt8])
    /// Sends receipts for all messages that came and haven't had one.
    case receiptAll(Int)
    /// Opens a connection again and again, and sends that, until a frame comes back.
    case reopen(Int, [UInt8], atMost: Duration)
    case listen([Int], Until, atMost: Duration)
    case finishWriting(Int)
    case close(Int)
    case pause(Duration)
    /// Sends a datagram to the router's discovery port.
    case probe(Int, [UInt8])
    /// Collects datagrams on the sockets, until so many have come in all.
    case gather([Int], Int, atMost: Duration)
}

/// What happened, in order, with the time of each.
struct ConformTranscript: Sendable {
    enum What: Equatable, Sendable {
        case opened
        case refused(String)
        case sent([UInt8])
        case received([UInt8])
        /// The router ended the connection, in order or not.
        case ended(String)
        case probed([UInt8])
        case datagram([UInt8], from: Endpoint)
    }

    struct Event: Equatable, Sendable {
        var number: Int
        var at: Instant
        var what: What
    }

    var events: [Event] = []

    /// What happened on one connection.
    func line(_ number: Int) -> ConformLine { ConformLine(events.filter { $0.number == number }) }

    /// The datagrams that came to one socket, and the time from the latest probe to each.
    func datagrams(_ number: Int) -> [(bytes: [UInt8], source: Endpoint, after: Duration)] {
        var probed = Instant.zero
        var found: [(bytes: [UInt8], source: Endpoint, after: Duration)] = []
        for event in events where event.number == number {
            switch event.what {
            case .probed: probed = event.at
            case .datagram(let bytes, let source): found.append((bytes, source, event.at - probed))
            default: break
            }
        }
        return found
    }
}
