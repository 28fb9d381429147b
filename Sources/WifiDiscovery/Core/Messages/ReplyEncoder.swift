import SocketCore

/// Writes replies and announcements within their limits (protocol.md, section 4).
///
/// What is left out first, when a reply would be longer than three times its probe or than 1,200 bytes: uptime, firmware,
/// vendor, the radios' SSIDs, their bands, the model, half of the name, the whole name, the children, the MLD addresses, then radios from the last on.
/// What a controller grades and connects by goes last; nonce, MAC, boot, port, TLS and versions always stay.
public enum ReplyEncoder {
    /// Below the smallest MTU that IPv6 allows (1,280), headers included.
    public static let maximumByteCount = 1200
    /// A forged source must not be worth more than this many bytes a byte sent.
    public static let amplification = 3

    /// The longest reply to a probe of `probeByteCount` bytes.
    public static func limit(forProbeOf probeByteCount: Int) -> Int { min(maximumByteCount, amplification * probeByteCount) }

    /// The datagram; nil when not even the required members fit into `limit`. Without a nonce it is an announcement.
    public static func encode(_ router: RouterDescription, msgId: UInt32, nonce: HexToken?, limit: Int) -> [UInt8]? {
        var smaller = router
        var step = 0
        while true {
            let body = render(smaller, nonce: nonce)
            if DiscoveryDatagram.headerByteCount + body.count <= limit { return DiscoveryDatagram.frame(msgId: msgId, body: body) }
            guard shorten(&smaller, step: step) else { return nil }
            step += 1
        }
    }

    private static func render(_ router: RouterDescription, nonce: HexToken?) -> [UInt8] {
        guard let nonce else { return JSONValue.object([.init("announce", .object(router.members))]).encoded() }
        let members = [JSONValue.Member("nonce", .string(nonce.description))] + router.members
        return JSONValue.object([.init("reply", .object(members))]).encoded()
    }

    /// Takes the next thing away; false when nothing is left to take.
    private static func shorten(_ router: inout RouterDescription, step: Int) -> Bool {
        switch step {
        case 0: router.uptime = nil
        case 1: router.firmware = ""
        case 2: router.vendor = ""
        case 3: for index in router.radios.indices { router.radios[index].ssid = "" }
        case 4: for index in router.radios.indices { router.radios[index].band = "" }
        case 5: router.model = ""
        case 6: router.name = DisplayText.clean(router.name, limit: DisplayText.maximumNameBytes / 2)
        case 7: router.name = ""
        case 8: router.children = []
        case 9: router.mld = []
        default:
            guard !router.radios.isEmpty else { return false }
            router.radios.removeLast()
        }
        return true
    }
}
