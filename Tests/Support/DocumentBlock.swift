import Foundation

/// A fenced block of a document: what it is, the settings behind that in its first line (`kind key=value key=value`), and
/// its lines. For tests that hold a document's examples against the code.
public struct DocumentBlock: Sendable {
    /// The first word behind the fence.
    public let kind: String
    /// The others, cut at their first equals sign.
    public let settings: [String: String]
    /// What stands between the fences.
    public let lines: [String]

    /// The lines as they stand.
    public var text: String { lines.joined(separator: "\n") }

    /// Pairs of hex digits; a semicolon begins a remark. What is no such pair comes out as 0xEE, so that it is noticed.
    public var bytes: [UInt8] {
        lines.flatMap { line in line.prefix { $0 != ";" }.split(separator: " ").map { UInt8($0, radix: 16) ?? 0xEE } }
    }

    /// The text of the document at `path`, which counts from the project's root.
    ///
    /// - Throws: the file's error.
    public static func document(_ path: String) throws -> String {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        return try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// All blocks of the document at `path`, which counts from the project's root.
    ///
    /// - Throws: the file's error.
    public static func all(in path: String) throws -> [DocumentBlock] {
        let document = try document(path)
        var blocks: [DocumentBlock] = []
        var open: (head: Substring, lines: [String])?
        for line in document.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("```") {
                if let (head, lines) = open { blocks.append(DocumentBlock(head: head, lines: lines)) }
                open = open == nil ? (line.dropFirst(3), []) : nil
            } else {
                open?.lines.append(String(line))
            }
        }
        return blocks
    }

    private init(head: Substring, lines: [String]) {
        let words = head.split(separator: " ")
        kind = words.first.map(String.init) ?? ""
        let pairs = words.dropFirst().map { word in
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), parts.count > 1 ? String(parts[1]) : "")
        }
        settings = Dictionary(pairs) { $1 }
        self.lines = lines
    }
}
