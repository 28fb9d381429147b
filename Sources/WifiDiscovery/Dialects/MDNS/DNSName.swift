/// A domain name as its labels, which may hold any byte; compared without regard to ASCII case (RFC 4343).
struct DNSName: Hashable {
    /// RFC 1035, section 2.3.4.
    static let longestLabel = 63

    private(set) var labels: [[UInt8]]

    init(_ labels: some Sequence<ArraySlice<UInt8>>) { self.labels = labels.map { Array($0) } }

    /// A name of ours, its labels separated by dots.
    init(_ dotted: String) { labels = dotted.split(separator: ".").map { Array($0.utf8.prefix(DNSName.longestLabel)) } }

    /// As it stands in a message, uncompressed.
    var encoded: [UInt8] { labels.flatMap { [UInt8($0.count)] + $0 } + [0] }

    /// The first label as text.
    var first: String { labels.first.map { String(decoding: $0, as: UTF8.self) } ?? "" }

    /// Whether the name is `parent` with exactly one label before it: an instance of a service.
    func isChild(of parent: DNSName) -> Bool {
        labels.count == parent.labels.count + 1 && DNSName(labels.dropFirst().map { $0[...] }) == parent
    }

    static func == (left: DNSName, right: DNSName) -> Bool { left.folded == right.folded }

    func hash(into hasher: inout Hasher) { hasher.combine(folded) }

    private var folded: [[UInt8]] { labels.map { $0.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 } } }
}
