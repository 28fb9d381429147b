import Foundation
import FrameCodec

/// A stream of bytes kept as a fixture, and what a decoder must make of it.
///
/// `NAME.hex` holds the bytes as hex text, `NAME.expected` a line for each fact:
///
///     about     a sentence
///     layout    standard | littleEndian | asciiLength
///     limit     the largest body in bytes
///     versions  LOWEST-HIGHEST
///     frame     MSGID VERSION BODY      body in hex, - for none; a line a frame, in order
///     error     none | KIND KEY=NUMBER…
///     offset    where the frame after the last whole one begins
public struct FrameFixture: Sendable, CustomStringConvertible {
    /// What is wrong with a fixture's text.
    public struct Malformed: Error {
        /// The fixture's name.
        public let fixture: String
        /// The line that isn't understood, or what is missing.
        public let line: String
    }

    /// The file's name without its ending.
    public let name: String
    /// The bytes of the stream, which ends after them.
    public let stream: [UInt8]
    /// How headers are to be read.
    public var layout = FrameLayout.standard
    /// What is to be accepted.
    public var limits = FrameLimits()
    /// The right answer.
    public var expected = StreamAnswer()

    /// The name, for lists of tests.
    public var description: String { name }

    /// Every fixture of `Fixtures/frames`, by name.
    public static func all() throws -> [FrameFixture] {
        let folder = Repository.root.appending(path: "Fixtures/frames")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "hex" }
            .map { file in
                try FrameFixture(
                    name: file.deletingPathExtension().lastPathComponent,
                    hex: String(contentsOf: file, encoding: .utf8),
                    expected: String(contentsOf: file.deletingPathExtension().appendingPathExtension("expected"), encoding: .utf8))
            }
            .sorted { $0.name < $1.name }
    }

    init(name: String, hex: String, expected text: String) throws(Malformed) {
        self.name = name
        guard let stream = FrameFixture.bytes(hex.filter { !$0.isWhitespace }) else { throw Malformed(fixture: name, line: "the hex text") }
        self.stream = stream
        var limit = FrameLimits.defaultMaximumBodyLength
        var versions: ClosedRange<UInt16> = 1...UInt16.max
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            var understood = true
            switch (words[0], words.count) {
            case ("about", _): break
            case ("layout", 2): understood = setLayout(words[1])
            case ("limit", 2): limit = Int(words[1]) ?? limit
            case ("versions", 2):
                let ends = words[1].split(separator: "-").compactMap { UInt16($0) }
                understood = ends.count == 2
                if understood { versions = ends[0]...ends[1] }
            case ("frame", 4): understood = addFrame(words)
            case ("error", _): understood = setError(words)
            case ("offset", 2): expected.frameOffset = UInt64(words[1]) ?? .max
            default: understood = false
            }
            guard understood else { throw Malformed(fixture: name, line: String(line)) }
        }
        limits = FrameLimits(maximumBodyLength: limit, versions: versions)
    }

    private mutating func setLayout(_ word: String) -> Bool {
        guard let found = FrameLayout.allCases.first(where: { "\($0)" == word }) else { return false }
        layout = found
        return true
    }

    private mutating func addFrame(_ words: [String]) -> Bool {
        guard let id = UInt32(words[1]), let version = UInt16(words[2]) else { return false }
        guard let body = words[3] == "-" ? [] : FrameFixture.bytes(words[3]) else { return false }
        expected.frames.append(Frame(msgId: id, version: version, body: body))
        return true
    }

    private mutating func setError(_ words: [String]) -> Bool {
        var numbers: [String: String] = [:]
        for word in words.dropFirst(2) {
            let pair = word.split(separator: "=")
            guard pair.count == 2 else { return false }
            numbers[String(pair[0])] = String(pair[1])
        }
        func number(_ key: String) -> Int? { numbers[key].flatMap { Int($0) } }
        switch words.dropFirst().first {
        case "none": return numbers.isEmpty
        case "unsupportedVersion": expected.error = number("version").map { .unsupportedVersion(version: UInt16($0)) }
        case "malformedLength": expected.error = numbers["field"].flatMap { UInt32($0, radix: 16) }.map { .malformedLength(field: $0) }
        case "bodyTooLarge":
            if let declared = number("declared"), let limit = number("limit") {
                expected.error = .bodyTooLarge(declared: declared, limit: limit)
            }
        case "truncated":
            if let have = number("have"), let need = number("need") { expected.error = .truncated(have: have, need: need) }
        default: return false
        }
        return expected.error != nil
    }

    static func bytes(_ hex: some StringProtocol) -> [UInt8]? {
        let digits = Array(hex.utf8).map { Character(UnicodeScalar($0)).hexDigitValue }
        guard digits.count.isMultiple(of: 2) else { return nil }
        var bytes: [UInt8] = []
        for index in stride(from: 0, to: digits.count, by: 2) {
            guard let high = digits[index], let low = digits[index + 1] else { return nil }
            bytes.append(UInt8(high * 16 + low))
        }
        return bytes
    }
}
