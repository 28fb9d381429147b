/// What a stream that holds no frames may be instead, by its first bytes: for advice, never for a decision.
enum ForeignStream: String, CaseIterable {
    case http = "HTTP"
    case tls = "TLS"
    case ssh = "SSH"
    case gzip = "gzip"
    case hexText = "hex text"

    /// Bytes that are enough to tell.
    static let prefixLength = 8

    init?(_ start: [UInt8]) {
        let words = ["GET ", "POST ", "PUT ", "HEAD ", "OPTIONS ", "HTTP/1."]
        if words.contains(where: { start.starts(with: $0.utf8) }) {
            self = .http
        } else if start.starts(with: "SSH-".utf8) {
            self = .ssh
        } else if start.starts(with: [0x1F, 0x8B]) {
            self = .gzip
        } else if start.count >= 3, (20...24).contains(start[0]), start[1] == 3, start[2] <= 4 {
            self = .tls
        } else if start.count >= Self.prefixLength, start.allSatisfy({ Hex.value(of: $0) != nil || $0 == 0x20 }) {
            self = .hexText
        } else {
            return nil
        }
    }

    /// What to try.
    var advice: String {
        switch self {
        case .http, .ssh: "it begins like \(rawValue): another port?"
        case .tls: "it begins like TLS, in which no frames can be seen"
        case .gzip: "it begins like a gzip file: unpack it first"
        case .hexText: "it begins like hex text: see --hex"
        }
    }
}
