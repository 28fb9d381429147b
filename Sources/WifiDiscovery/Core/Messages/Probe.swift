import SocketCore

/// A controller's question "who is there?" (protocol.md, section 4).
public struct Probe: Equatable, Sendable {
    /// A reply may be three times as long as its probe, so a probe shorter than this is padded.
    public static let minimumByteCount = 400
    /// The most MACs that `known` may hold.
    public static let maximumKnown = 64
    /// The longest time that a router may be asked to spread its reply over, in milliseconds.
    public static let maximumWaitMilliseconds = 2_000

    /// Random; comes back in the reply, which is believed for that reason alone.
    public var nonce: HexToken
    /// The span over which routers spread their replies at random, in milliseconds, 0...2000.
    public var maxWaitMilliseconds: Int
    /// A router that owns this BSSID replies at once.
    public var bssid: MACAddress?
    /// Routers with these MACs stay silent; at most ``maximumKnown``.
    public var known: [MACAddress]
    /// Only this router answers.
    public var mac: MACAddress?

    /// A probe; `known` is cut to ``maximumKnown`` and the wait to its range.
    public init(nonce: HexToken, maxWaitMilliseconds: Int = 100, bssid: MACAddress? = nil, known: [MACAddress] = [], mac: MACAddress? = nil)
    {
        self.nonce = nonce
        self.maxWaitMilliseconds = min(max(maxWaitMilliseconds, 0), Probe.maximumWaitMilliseconds)
        self.bssid = bssid
        self.known = Array(known.prefix(Probe.maximumKnown))
        self.mac = mac
    }

    /// Reads the object under `probe`. A filter that can't be understood makes the probe invalid: without it every router
    /// would answer a question that was meant for one.
    init(_ object: JSONValue) throws(DatagramError) {
        let fields = MessageFields(object)
        nonce = try fields.token("nonce")
        maxWaitMilliseconds = Int(min(max(try fields.optionalInteger("maxWait") ?? 0, 0), Int64(Probe.maximumWaitMilliseconds)))
        bssid = try fields.optionalBSSID("bssid")
        mac = try fields.optionalDevice("mac")
        known = []
        guard let list = object["known"], list != .null else { return }
        guard let entries = list.arrayValue, entries.count <= Probe.maximumKnown else { throw .badValue(key: "known") }
        for entry in entries {
            guard let text = entry.stringValue, let address = MACAddress(text) else { throw .badValue(key: "known") }
            known.append(address)
        }
    }

    /// The message's body, padded so that the whole datagram has at least ``minimumByteCount`` bytes.
    func body() -> [UInt8] {
        var members: [JSONValue.Member] = [
            .init("nonce", .string(nonce.description)), .init("maxWait", .integer(Int64(maxWaitMilliseconds))),
        ]
        if let bssid { members.append(.init("bssid", .string(bssid.description))) }
        if !known.isEmpty { members.append(.init("known", .array(known.map { .string($0.description) }))) }
        if let mac { members.append(.init("mac", .string(mac.description))) }
        let bare = JSONValue.object([.init("probe", .object(members))]).encoded()
        let missing = Probe.minimumByteCount - DiscoveryDatagram.headerByteCount - bare.count
        guard missing > 0 else { return bare }
        // `,"pad":""` itself takes 9 bytes.
        members.append(.init("pad", .string(String(repeating: ".", count: max(missing - 9, 0)))))
        return JSONValue.object([.init("probe", .object(members))]).encoded()
    }
}
