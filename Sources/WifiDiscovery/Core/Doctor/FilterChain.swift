/// A chain of the kernel's packet filter that all incoming or outgoing datagrams pass (nf_tables, linux/netfilter/nf_tables.h).
struct FilterChain: Equatable {
    enum Hook: UInt32 {
        case input = 1
        case output = 3
    }

    /// The table's name: it often tells whose rules they are.
    var table: String
    var name: String
    var hook: Hook
    /// What happens to a datagram that no rule decides about.
    var drops: Bool

    /// NFNL_SUBSYS_NFTABLES in the upper byte.
    private static let getChain: UInt16 = 10 << 8 | 4
    private static let newChain: UInt16 = 10 << 8 | 3

    private enum Attribute {
        static let table: UInt16 = 1
        static let name: UInt16 = 3
        static let hook: UInt16 = 4
        static let policy: UInt16 = 5
        static let type: UInt16 = 7
        static let hookNumber: UInt16 = 1
    }

    /// Asks for all chains of all families: the head is family, version and a resource, all zero.
    static func request(_ sequence: UInt32) -> NetlinkRequest {
        NetlinkRequest(type: getChain, isDump: true, sequence: sequence, head: [0, 0, 0, 0])
    }

    /// nil for chains that nothing passes by itself, and for hooks that have no say in discovery.
    init?(_ message: NetlinkMessage) {
        guard message.type == FilterChain.newChain else { return nil }
        let attributes = NetlinkAttributes(message.payload.dropFirst(4))
        guard attributes[Attribute.type]?.text == "filter",
            let number = attributes[Attribute.hook]?.nested[Attribute.hookNumber]?.uint32?.byteSwapped, let hook = Hook(rawValue: number),
            let table = attributes[Attribute.table]?.text, let name = attributes[Attribute.name]?.text
        else { return nil }
        self.table = table
        self.name = name
        self.hook = hook
        // Numbers of this subsystem are big-endian; 0 is drop, and no policy is accept.
        drops = attributes[Attribute.policy]?.uint32 == 0
    }
}
