/// Where a command's bytes come from: pieces of a file as it is, or of the bytes that its hex text stands for.
struct StreamInput: ~Copyable {
    /// Longest line of hex text that is put up with: a body of several MiB on one line.
    static let lineLimit = 16 << 20

    /// One of the two is there.
    private var file: InputFile?
    private var lines: LineReader?
    private var text = HexText()
    /// Bytes that were looked at; handed out first.
    private var ahead: [UInt8] = []
    private let pieceLength: Int

    init(_ path: String?, hex: Bool, pieceLength: Int, cancellation: CancellationSignal) throws(ToolError) {
        if hex {
            lines = LineReader(try InputFile(path, cancellation: cancellation), limit: StreamInput.lineLimit)
        } else {
            file = try InputFile(path, cancellation: cancellation)
        }
        self.pieceLength = pieceLength
    }

    /// The next piece; empty at the end. May block its thread.
    mutating func next() throws -> [UInt8] {
        if ahead.isEmpty { return try read() }
        defer { ahead = [] }
        return ahead
    }

    /// Looks at the first bytes, as few as it takes, so that a stream that comes slowly isn't held up.
    mutating func recognise() throws -> CaptureFormat {
        while true {
            let piece = try read()
            ahead += piece
            if let format = CaptureFormat.recognise(ahead, ended: piece.isEmpty) { return format }
        }
    }

    /// Whether hex text's first column was taken for offsets without a colon to say so.
    var hasGuessedOffsets: Bool { text.hasGuessedOffsets }

    private mutating func read() throws -> [UInt8] {
        if let piece = try file?.next(pieceLength) { return piece }
        while let line = try lines?.next() {
            do throws(HexTextError) {
                let bytes = try text.bytes(ofLine: line)
                if !bytes.isEmpty { return bytes }
            } catch {
                throw ToolError("the input is no hex text: \(error)", hint: "leave --hex out if it holds raw bytes")
            }
        }
        return []
    }
}
