/// The first line and the fields of an HTTP message (RFC 9112), of a datagram (SSDP) or of a connection.
struct HTTPHead: Equatable {
    /// More than any answer that is meant well.
    static let maximumFields = 64

    /// "HTTP/1.1 200 OK", "NOTIFY * HTTP/1.1".
    var start: String
    /// Names in lower case; of several with one name the first counts.
    private var fields: [String: String] = [:]

    /// Reads lines up to the empty one, which may be missing in a datagram. nil when a line is no field or there are too many.
    init?(_ bytes: some Collection<UInt8>) {
        // A lone LF ends a line too: small devices write such (RFC 9112, section 2.2).
        var lines = bytes.split(separator: 0x0A, omittingEmptySubsequences: false)[...].map { line in
            line.last == 0x0D ? line.dropLast() : line
        }
        guard let first = lines.first, !first.isEmpty else { return nil }
        lines.removeFirst()
        start = String(decoding: first, as: UTF8.self)
        for line in lines {
            if line.isEmpty { break }
            guard fields.count < HTTPHead.maximumFields, let colon = line.firstIndex(of: 0x3A), colon != line.startIndex else { return nil }
            let name = String(decoding: line[..<colon], as: UTF8.self).trimmingASCIISpaces.lowercased()
            let value = String(decoding: line[line.index(after: colon)...], as: UTF8.self).trimmingASCIISpaces
            if fields[name] == nil { fields[name] = value }
        }
    }

    subscript(name: String) -> String? { fields[name] }

    /// The status of an answer; nil for anything else.
    var status: Int? {
        let words = start.split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), words[1].utf8.count == 3 else { return nil }
        return Int(words[1])
    }
}
