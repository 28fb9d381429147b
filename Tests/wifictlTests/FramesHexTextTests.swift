import SocketCore
import Testing

@testable import wifictl

/// Hex text as people have it.
struct FramesHexTextTests {
    private func read(_ text: String) throws(HexTextError) -> [UInt8] {
        var reader = HexText()
        var bytes: [UInt8] = []
        for line in Array(text.utf8).split(separator: 0x0A) { bytes += try reader.bytes(ofLine: line) }
        return bytes
    }

    private static let sample = (0..<37).map { UInt8($0 * 7) }

    @Test(arguments: [
        "00 07 0e 15", "00070e15", "0x00, 0x07, 0x0E, 0x15", "{ 0x00, 0x07,\n  0x0e, 0x15 };", "0x00070e15", "00:07:0e:15",
        "\t0007\t0e15\n",
        "# a remark\n0007 0e15", "0007\r\n0e15",
    ])
    func `plain digits in many spellings`(text: String) throws {
        #expect(try read(text) == [0x00, 0x07, 0x0E, 0x15])
    }

    @Test func `dumps with offsets and text columns`() throws {
        let hex = { (bytes: ArraySlice<UInt8>) in bytes.map { Hex.text([$0]) } }
        let starts = Array(stride(from: 0, to: Self.sample.count, by: 16))
        let rows = starts.map { Self.sample[$0..<min($0 + 16, Self.sample.count)] }
        let offset = { (value: Int, width: Int) in
            String(repeating: "0", count: width - String(value, radix: 16).count) + String(value, radix: 16)
        }
        // A text column made of hex digits is the worst that can stand there.
        let trap = "deadbeef"
        let xxd = zip(starts, rows).map { start, row in
            let words = stride(from: row.startIndex, to: row.endIndex, by: 2).map { Hex.text(row[$0..<min($0 + 2, row.endIndex)]) }
            return "\(offset(start, 8)): \(words.joined(separator: " "))  \(trap)"
        }
        let canonical = zip(starts, rows).map { start, row in
            "\(offset(start, 8))  \(hex(row.prefix(8)).joined(separator: " "))  \(hex(row.dropFirst(8)).joined(separator: " "))  |\(trap)|"
        }
        let od = zip(starts, rows).map { start, row in "\(offset(start, 6)) \(hex(row).joined(separator: " "))" }
        let tcpdump = zip(starts, rows).map { start, row in "\t0x\(offset(start, 4)):  \(hex(row).joined(separator: " "))" }
        let wireshark = zip(starts, rows).map { start, row in "\(offset(start, 4))   \(hex(row).joined(separator: " "))   \(trap)" }
        for dump in [xxd, canonical + [offset(37, 8)], od + [offset(37, 6)], tcpdump, wireshark] {
            #expect(try read(dump.joined(separator: "\n")) == Self.sample, "\(dump)")
        }
    }

    @Test func `a first group of digits that is no offset is data`() throws {
        #expect(try read("00000000 0001 00000000") == [0, 0, 0, 0, 0, 1, 0, 0, 0, 0])
        #expect(try read("00000001 00 01 00 00 00 00") == [0, 0, 0, 1, 0, 1, 0, 0, 0, 0])
    }

    @Test func `what is no hex text is refused with its line`() {
        #expect(throws: HexTextError.badCharacter(line: 2, character: "g")) { try read("00\n0g") }
        #expect(throws: HexTextError.oddDigits(line: 1, group: "123")) { try read("00 123") }
        #expect(throws: HexTextError.leftOut(line: 2)) { try read("00000000: 00\n*\n00000020: 00") }
        #expect(throws: HexTextError.wrongOffset(line: 2, stated: 16, counted: 1)) { try read("00000000: 00\n00000010: 00") }
    }

    @Test func `any bytes end in bytes or an error, never in a crash`() {
        let seed: UInt64 = 0x4E_5EED
        var dice = SeededGenerator(seed: seed)
        let alphabet = Array("00123456789abcdefg:x|* ,\t-\u{7F}".utf8) + [0xFF]
        for _ in 0..<5_000 {
            var reader = HexText()
            for _ in 0..<3 {
                let line = (0..<Int.random(in: 0...24, using: &dice)).map { _ in alphabet.randomElement(using: &dice) ?? 0 }
                let before = reader.byteCount
                let count = (try? reader.bytes(ofLine: line))?.count ?? 0
                #expect(reader.byteCount == before + count, "seed \(seed): \(line)")
            }
        }
    }
}
