import FrameCodec
import SocketCore

/// Prints the frames of one stream: a JSON line each, or a row each under titles that come once.
///
/// Rows leave as the frames come, so the columns have fixed widths instead of fitted ones.
struct FramePrinter {
    private let output: Output
    private var hasTitles = false

    init(_ output: Output) { self.output = output }

    mutating func frame(at offset: UInt64, _ header: FrameHeader, _ body: RawSpan) {
        if output.isJSON {
            output.json("frame", FramePrinter.members(at: offset, header, body))
            return
        }
        titles(FrameRow.titles(width: output.width))
        output.line(FrameRow(offset: offset, header, body).text(width: output.width))
    }

    func failure(_ report: FrameErrorReport) {
        if output.isJSON { output.json("error", report.members) }
    }

    private mutating func titles(_ text: String) {
        guard !hasTitles else { return }
        hasTitles = true
        output.line(output.paint(text, .bold))
    }

    /// `offset`, `msgId`, `version`, `len`, `body`.
    static func members(at offset: UInt64, _ header: FrameHeader, _ body: RawSpan) -> [JSONValue.Member] {
        [
            JSONValue.Member("offset", .whole(offset)), JSONValue.Member("msgId", .whole(header.msgId)),
            JSONValue.Member("version", .whole(header.version)), JSONValue.Member("len", .whole(header.bodyLength)),
            JSONValue.Member("body", .string(body.withUnsafeBytes { Hex.text($0) })),
        ]
    }
}

/// One frame as a line for people.
struct FrameRow {
    /// The names of the columns. Where there's little room, offset and version make way for the body; JSON lines have them.
    static func titles(width: Int?, behind start: String = "") -> String {
        let columns = row("offset", "msgId", "kind", "version", "len", isNarrow: isNarrow(width, start))
        return fitted(start + columns + "body", width)
    }
    /// Characters of a body shown where no terminal says how wide it is.
    static let previewLength = 80

    private let cells: [String]
    private let preview: String

    init(offset: UInt64, _ header: FrameHeader, _ body: RawSpan) {
        let kind = FrameKind(msgId: header.msgId, bodyLength: header.bodyLength)
        cells = ["\(offset)", "\(header.msgId)", kind.rawValue, "\(header.version)", "\(header.bodyLength)"]
        preview = FrameRow.preview(of: body)
    }

    /// The line, behind what is to stand in front of its columns.
    func text(width: Int?, behind start: String = "") -> String {
        let isNarrow = FrameRow.isNarrow(width, start)
        let columns = start + FrameRow.row(cells[0], cells[1], cells[2], cells[3], cells[4], isNarrow: isNarrow)
        // Columns end with the gap in front of the body.
        guard !preview.isEmpty else { return FrameRow.fitted(String(columns.dropLast(2)), width) }
        let room = width.map { max(8, $0 - columns.utf8.count) } ?? FrameRow.previewLength
        // No character is wider than its UTF-8 is long, so most bodies need no look at each character.
        return FrameRow.fitted(columns + (preview.utf8.count <= room ? preview : DisplayWidth.fit(preview, to: room)), width)
    }

    /// Where the whole row leaves less than a dozen columns to the body.
    private static func isNarrow(_ width: Int?, _ start: String) -> Bool { width.map { $0 < start.utf8.count + 72 } ?? false }

    private static func fitted(_ line: String, _ width: Int?) -> String {
        guard let width, line.utf8.count > width else { return line }
        return DisplayWidth.fit(line, to: width)
    }

    private static func row(
        _ offset: String, _ msgId: String, _ kind: String, _ version: String, _ length: String, isNarrow: Bool
    ) -> String {
        let cells =
            isNarrow
            ? [right(msgId, 10), left(kind, 15), right(length, 7), ""]
            : [right(offset, 10), right(msgId, 10), left(kind, 15), right(version, 7), right(length, 8), ""]
        return cells.joined(separator: "  ")
    }

    static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.utf8.count))
    }

    static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.utf8.count)) + text
    }

    /// Text as it stands where the body is UTF-8 without control characters, else hex digits.
    static func preview(of body: RawSpan) -> String {
        let shown = 4 * previewLength
        return body.withUnsafeBytes { bytes in
            let start = bytes.prefix(shown)
            if start.allSatisfy({ (0x20...0x7E).contains($0) }) { return String(decoding: start, as: UTF8.self) }
            if let text = textPrefix(start, isCut: bytes.count > shown), DisplayWidth.printable(text) == text { return text }
            return Hex.text(start)
        }
    }

    /// The bytes as text; of a body that was cut for showing, up to three bytes of a last character may be left out.
    private static func textPrefix(_ bytes: Slice<UnsafeRawBufferPointer>, isCut: Bool) -> String? {
        for dropped in 0...(isCut ? 3 : 0) {
            if let text = String(validating: bytes.dropLast(dropped), as: UTF8.self) { return text }
        }
        return nil
    }
}
