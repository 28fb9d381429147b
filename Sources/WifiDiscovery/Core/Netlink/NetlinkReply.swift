/// Collects the answer to one request from the datagrams that come, until it is complete.
struct NetlinkReply {
    /// How an answer ended.
    enum Ending: Equatable {
        /// All messages are there.
        case complete
        /// The table changed during the dump: ask again.
        case interrupted
        /// The kernel refused, with this error number.
        case refused(Int32)
        /// More than ``largest`` bytes: what came until then is kept.
        case overlong
    }

    /// More than any table that we ask for: 4,096 networks on the air with a kilobyte each.
    static let largest = 4 << 20

    private(set) var messages: [NetlinkMessage] = []
    /// nil until the answer is complete.
    private(set) var ending: Ending?
    private let request: NetlinkRequest
    private var byteCount = 0
    private var wasInterrupted = false

    init(to request: NetlinkRequest) { self.request = request }

    /// Takes a datagram. Messages that answer something else are passed over.
    ///
    /// - Returns: whether more is to come.
    mutating func take(_ datagram: [UInt8]) -> Bool {
        byteCount += datagram.count
        for message in NetlinkMessage.all(in: datagram) where message.sequence == request.sequence && ending == nil {
            if message.flags & NetlinkMessage.dumpInterrupted != 0 { wasInterrupted = true }
            switch message.type {
            case NetlinkMessage.error, NetlinkMessage.done:
                // A message too short for its code is a success in a dump's end and nothing that can be believed elsewhere.
                let code = message.errorCode ?? 0
                ending = code != 0 ? .refused(code) : wasInterrupted ? .interrupted : .complete
            default:
                messages.append(message)
                if message.flags & NetlinkMessage.multiple == 0 { ending = .complete }
            }
        }
        if ending == nil, byteCount > NetlinkReply.largest { ending = .overlong }
        return ending == nil
    }
}
