/// A DNS message as far as service discovery needs it (RFC 1035, section 4; RFC 6762, section 18).
struct DNSMessage: Equatable {
    /// More records than one datagram of ours can hold: the smallest takes eleven bytes.
    static let maximumRecords = 160

    struct Record: Equatable {
        var name: DNSName
        var type: UInt16
        /// Zero says goodbye.
        var timeToLive: UInt32
        var data: Data
    }

    enum Data: Equatable {
        /// PTR.
        case pointer(DNSName)
        /// SRV: host and port.
        case service(DNSName, port: UInt16)
        /// TXT: `key=value` strings.
        case text([ArraySlice<UInt8>])
        /// Everything else.
        case other
    }

    enum Kind {
        static let pointer: UInt16 = 12
        static let text: UInt16 = 16
        static let service: UInt16 = 33
    }

    /// Whether it answers; queries have no use here.
    var isResponse: Bool
    /// Answers, authorities and additions alike.
    var records: [Record]

    /// Reads a message; nil when a part of it is malformed, when it isn't a plain query or answer, or when it reports an error.
    init?(_ datagram: [UInt8]) {
        var reader = DNSReader(datagram)
        guard reader.uint16() != nil, let flags = reader.uint16(), let questions = reader.uint16(), let answers = reader.uint16(),
            let authorities = reader.uint16(), let additions = reader.uint16(), flags & 0x780F == 0
        else { return nil }
        isResponse = flags & 0x8000 != 0
        records = []
        for _ in 0..<questions { guard reader.name() != nil, reader.uint16() != nil, reader.uint16() != nil else { return nil } }
        for _ in 0..<Int(answers) + Int(authorities) + Int(additions) {
            guard records.count < DNSMessage.maximumRecords, let record = reader.record() else { return nil }
            records.append(record)
        }
    }

    /// A query for the pointers of one service type.
    static func query(_ service: DNSName) -> [UInt8] {
        let head: [UInt8] = [0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
        return head + service.encoded + [0, UInt8(Kind.pointer), 0, 1]
    }
}

/// Reads a DNS message from its start, since names point back into what came before.
struct DNSReader {
    /// RFC 1035, section 2.3.4.
    private static let longestName = 255

    private let message: [UInt8]
    private var position = 0

    init(_ message: [UInt8]) { self.message = message }

    mutating func uint16() -> UInt16? { take(2).map { UInt16($0[$0.startIndex]) << 8 | UInt16($0[$0.startIndex + 1]) } }

    mutating func uint32() -> UInt32? { take(4).map { $0.reduce(0) { $0 << 8 | UInt32($1) } } }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        guard message.count - position >= count else { return nil }
        defer { position += count }
        return message[position..<position + count]
    }

    mutating func record() -> DNSMessage.Record? {
        guard let name = name(), let type = uint16(), uint16() != nil, let timeToLive = uint32(), let length = uint16() else { return nil }
        let end = position + Int(length)
        guard end <= message.count else { return nil }
        let data = data(type, until: end)
        position = end
        return data.map { DNSMessage.Record(name: name, type: type, timeToLive: timeToLive, data: $0) }
    }

    private mutating func data(_ type: UInt16, until end: Int) -> DNSMessage.Data? {
        switch type {
        case DNSMessage.Kind.pointer:
            guard let target = name(), position <= end else { return nil }
            return .pointer(target)
        case DNSMessage.Kind.service:
            guard uint16() != nil, uint16() != nil, let port = uint16(), let host = name(), position <= end else { return nil }
            return .service(host, port: port)
        case DNSMessage.Kind.text:
            var strings: [ArraySlice<UInt8>] = []
            while position < end {
                let length = Int(message[position])
                position += 1
                guard position + length <= end, let string = take(length) else { return nil }
                strings.append(string)
            }
            return .text(strings)
        default: return .other
        }
    }

    /// Reads a name. A pointer must lead to before where its name began, so that following pointers always ends.
    mutating func name() -> DNSName? {
        var labels: [ArraySlice<UInt8>] = []
        var length = 1
        var at = position
        var limit = position
        var resume: Int?
        while at < message.count {
            let first = message[at]
            switch first & 0xC0 {
            case 0xC0:
                guard at + 1 < message.count else { return nil }
                let target = Int(first & 0x3F) << 8 | Int(message[at + 1])
                guard target < limit else { return nil }
                resume = resume ?? at + 2
                at = target
                limit = target
            case 0:
                let end = at + 1 + Int(first)
                if first == 0 {
                    position = resume ?? end
                    return DNSName(labels)
                }
                length += 1 + Int(first)
                guard end <= message.count, length <= DNSReader.longestName else { return nil }
                labels.append(message[at + 1..<end])
                at = end
            default: return nil
            }
        }
        return nil
    }
}
