/// The first bytes of a peer, looked at before a TLS library spends memory on them.
///
/// | offset | size | TLS record and handshake header (RFC 8446, sections 4 and 5.1) |
/// |---|---|---|
/// | 0 | 1 | record type: 22 handshake, 21 alert |
/// | 1 | 2 | legacy version, 03 00 … 03 04 |
/// | 3 | 2 | record length |
/// | 5 | 1 | handshake type: 1 client hello, 2 server hello |
/// | 6 | 3 | length of the handshake message, declared before its bytes are there |
public struct TLSOpening: Sendable {
    /// What is needed to decide.
    public static let headerLength = 9
    /// The longest hello taken. Real ones are 200 to 2,000 bytes, with post-quantum keys and a ticket up to 6,000; a library that
    /// believes the header's 24 bits sets memory aside for a hundred thousand.
    public static let longestHello = 16_384

    /// What the bytes are.
    public enum Verdict: Equatable, Sendable {
        /// Too few bytes to say.
        case undecided
        /// TLS, as far as can be seen.
        case tls
        /// Something else.
        case notTLS(Speech)
        /// TLS, with a hello of that declared length.
        case helloTooLong(Int)
    }

    /// What somebody speaks who doesn't speak TLS.
    public enum Speech: Equatable, Sendable {
        /// This toolkit's frames in the clear.
        case frames
        /// HTTP.
        case http
        /// Printable text of another kind.
        case text
        /// Bytes that mean nothing to us.
        case bytes
    }

    private var seen: [UInt8] = []
    private var isDecided = false

    /// An opening of which nothing has been seen.
    public init() {}

    /// Looks at the next bytes. Once it said anything but `undecided` it says `tls` for all that follows.
    public mutating func look(at bytes: RawSpan) -> Verdict {
        guard !isDecided else { return .tls }
        for offset in 0..<min(bytes.byteCount, TLSOpening.headerLength - seen.count) {
            seen.append(bytes.unsafeLoad(fromByteOffset: offset, as: UInt8.self))
        }
        let verdict = judge()
        if verdict != .undecided {
            isDecided = true
            seen = []
        }
        return verdict
    }

    private func judge() -> Verdict {
        guard let first = seen.first else { return .undecided }
        // An alert may come first, from a peer that refuses at once; its record is 7 bytes in all.
        guard first == 22 || first == 21, seen.count < 2 || seen[1] == 3, seen.count < 3 || seen[2] <= 4 else { return notTLS() }
        if first == 21 { return seen.count < 3 ? .undecided : .tls }
        guard seen.count == TLSOpening.headerLength else { return .undecided }
        guard seen[5] == 1 || seen[5] == 2 else { return .notTLS(.bytes) }
        let length = Int(seen[6]) << 16 | Int(seen[7]) << 8 | Int(seen[8])
        return length > TLSOpening.longestHello ? .helloTooLong(length) : .tls
    }

    /// Said at the fifth byte: with that, the library has a record's header and words of its own for what it thinks of it.
    private func notTLS() -> Verdict {
        if seen.count < 5, couldBecomeFrame || couldBecomeText { return .undecided }
        if couldBecomeFrame { return .notTLS(.frames) }
        guard couldBecomeText else { return .notTLS(.bytes) }
        let methods = ["HTTP/", "GET /", "POST ", "HEAD ", "PUT /", "OPTIO", "CONNE"]
        return .notTLS(methods.contains { seen.starts(with: $0.utf8) } ? .http : .text)
    }

    /// A first frame has the id 0 (a hello) and version 1 in either byte order (protocol.md, sections 1 and 3).
    private var couldBecomeFrame: Bool { seen.prefix(4).allSatisfy { $0 == 0 } && (seen.count < 5 || seen[4] <= 1) }

    private var couldBecomeText: Bool { seen.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 } }
}

extension TLSOpening.Speech {
    /// What it speaks, for people.
    public var sentence: String {
        switch self {
        case .frames: "it speaks this protocol in the clear"
        case .http: "it speaks HTTP"
        case .text: "it sends plain text"
        case .bytes: "it sends bytes that aren't TLS"
        }
    }
}
