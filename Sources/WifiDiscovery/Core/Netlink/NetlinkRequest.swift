/// Builds a netlink request.
struct NetlinkRequest: Equatable {
    private static let isRequest: UInt16 = 0x1
    private static let wholeTable: UInt16 = 0x300

    /// What the answers repeat.
    let sequence: UInt32
    /// Whether a whole table is asked for, so that the answer may be many messages.
    let isDump: Bool
    private let type: UInt16
    private var body: [UInt8]

    /// A request; `head` is what the type puts before its attributes (`struct rtgenmsg`, `struct genlmsghdr`).
    init(type: UInt16, isDump: Bool, sequence: UInt32, head: [UInt8]) {
        self.type = type
        self.isDump = isDump
        self.sequence = sequence
        body = head
        pad()
    }

    mutating func add(_ attribute: UInt16, _ value: [UInt8]) {
        append(UInt16(NetlinkAttributes.headerSize + value.count))
        append(attribute)
        body += value
        pad()
    }

    mutating func add(_ attribute: UInt16, _ value: UInt32) { add(attribute, withUnsafeBytes(of: value) { Array($0) }) }

    /// A text with the NUL that ends it.
    mutating func add(_ attribute: UInt16, _ text: String) { add(attribute, Array(text.utf8) + [0]) }

    /// The message as sent.
    var bytes: [UInt8] {
        var head = NetlinkRequest(type: 0, isDump: false, sequence: 0, head: [])
        head.append(UInt32(NetlinkMessage.headerSize + body.count))
        head.append(type)
        head.append(NetlinkRequest.isRequest | (isDump ? NetlinkRequest.wholeTable : 0))
        head.append(sequence)
        head.append(UInt32(0))
        return head.body + body
    }

    private mutating func append(_ value: some FixedWidthInteger) { withUnsafeBytes(of: value) { body += $0 } }

    private mutating func pad() { body += [UInt8](repeating: 0, count: NetlinkAttributes.aligned(body.count) - body.count) }
}
