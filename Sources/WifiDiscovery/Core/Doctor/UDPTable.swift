/// A line of `/proc/net/udp` or `/proc/net/udp6` (proc(5)): one UDP socket of this network namespace.
struct UDPTableEntry: Equatable {
    var port: UInt16
    var uid: UInt32
    /// What the links in `/proc/<pid>/fd` name; 0 for a socket that no process has.
    var inode: UInt64
    /// Datagrams lost since the socket was opened, since nobody took them in time.
    var drops: UInt64

    /// Reads a line; nil for the title and for whatever else is no entry.
    init?(_ line: some StringProtocol) {
        let fields = line.split(separator: " ", omittingEmptySubsequences: true)
        guard fields.count >= 10, fields[0].hasSuffix(":"), let colon = fields[1].lastIndex(of: ":"),
            let port = UInt16(fields[1][fields[1].index(after: colon)...], radix: 16), let uid = UInt32(fields[7]),
            let inode = UInt64(fields[9])
        else { return nil }
        self.port = port
        self.uid = uid
        self.inode = inode
        drops = fields.count > 12 ? UInt64(fields[12]) ?? 0 : 0
    }
}
