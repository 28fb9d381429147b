extension IPAddress: CustomStringConvertible {
    /// Reads dotted IPv4, or IPv6 with `::`, an embedded IPv4 tail and a numeric scope (`fe80::1%3`).
    ///
    /// Scopes by interface name need the system: resolve them first. Leading zeros in IPv4 octets are refused, since
    /// some readers take them for octal.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "%", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 {
            guard let scope = UInt32(parts[1]), let (high, low) = IPAddress.parseV6(parts[0]) else { return nil }
            self = .v6(high: high, low: low, scope: scope)
        } else if let bits = IPAddress.parseV4(text) {
            self = .v4(bits)
        } else if let (high, low) = IPAddress.parseV6(text) {
            self = .v6(high: high, low: low, scope: 0)
        } else {
            return nil
        }
    }

    private static func parseV4(_ text: some StringProtocol) -> UInt32? {
        let octets = text.split(separator: ".", omittingEmptySubsequences: false)
        guard octets.count == 4 else { return nil }
        var bits: UInt32 = 0
        for octet in octets {
            guard (1...3).contains(octet.utf8.count), octet.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }),
                octet.utf8.count == 1 || octet.first != "0", let value = UInt8(octet)
            else { return nil }
            bits = bits << 8 | UInt32(value)
        }
        return bits
    }

    private static func parseV6(_ text: some StringProtocol) -> (high: UInt64, low: UInt64)? {
        let halves = text.split(separator: "::", omittingEmptySubsequences: false)
        guard halves.count <= 2 else { return nil }
        guard let head = parseGroups(halves[0], mayEndInV4: halves.count == 1),
            let tail = halves.count == 2 ? parseGroups(halves[1], mayEndInV4: true) : []
        else { return nil }
        let missing = 8 - head.count - tail.count
        guard halves.count == 2 ? missing >= 1 : missing == 0 else { return nil }
        let groups = head + [UInt16](repeating: 0, count: missing) + tail
        let join = { (part: ArraySlice<UInt16>) in part.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
        return (join(groups[..<4]), join(groups[4...]))
    }

    private static func parseGroups(_ text: some StringProtocol, mayEndInV4: Bool) -> [UInt16]? {
        guard !text.isEmpty else { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if mayEndInV4, index == parts.count - 1, part.contains("."), let bits = parseV4(part) {
                groups += [UInt16(bits >> 16), UInt16(truncatingIfNeeded: bits)]
            } else {
                guard (1...4).contains(part.utf8.count), part.first != "+", let group = UInt16(part, radix: 16) else { return nil }
                groups.append(group)
            }
        }
        return groups
    }

    /// Dotted IPv4, or IPv6 as RFC 5952 writes it, with a numeric scope where there is one.
    public var description: String {
        switch self {
        case .v4(let bits):
            return [24, 16, 8, 0].map { String(UInt8(truncatingIfNeeded: bits >> UInt32($0))) }.joined(separator: ".")
        case .v6(let high, let low, let scope):
            let groups = [high, low].flatMap { half in [48, 32, 16, 0].map { UInt16(truncatingIfNeeded: half >> UInt64($0)) } }
            return IPAddress.formatV6(groups) + (scope == 0 ? "" : "%\(scope)")
        }
    }

    private static func formatV6(_ groups: [UInt16]) -> String {
        var best = 0..<0
        var index = 0
        while index < groups.count {
            let end = groups[index...].firstIndex { $0 != 0 } ?? groups.count
            // RFC 5952: the longest run, the first of equals, and never a single group.
            if end - index > max(best.count, 1) { best = index..<end }
            index = max(end, index + 1)
        }
        let hex = { (part: ArraySlice<UInt16>) in part.map { String($0, radix: 16) }.joined(separator: ":") }
        return best.isEmpty ? hex(groups[...]) : hex(groups[..<best.lowerBound]) + "::" + hex(groups[best.upperBound...])
    }
}

extension Endpoint: CustomStringConvertible {
    /// Reads `address:port`, IPv6 in brackets.
    public init?(_ text: some StringProtocol) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
        var host = text[..<colon]
        if host.first == "[" {
            guard host.last == "]" else { return nil }
            host = host.dropFirst().dropLast()
            guard let address = IPAddress(host), !address.isV4 else { return nil }
            self.init(address, port: port)
        } else {
            guard let address = IPAddress(host), address.isV4 else { return nil }
            self.init(address, port: port)
        }
    }

    /// `address:port`, IPv6 in brackets.
    public var description: String { address.isV4 ? "\(address):\(port)" : "[\(address)]:\(port)" }
}
