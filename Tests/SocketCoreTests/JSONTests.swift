import SocketCore
import Testing

@Suite("JSON reader and writer (RFC 8259)")
struct JSONTests {
    func parse(_ text: String) throws -> JSONValue { try JSONValue.parse(Array(text.utf8)) }

    @Test("what is written is read back the same")
    func roundTrip() throws {
        let value: JSONValue = [
            "text": "a\"\\\n\u{1}\u{7F}é😀", "numbers": [0, -1, 9_007_199_254_740_993, 1.5, -0.25], "flags": [true, false, nil],
            "deep": [["x": []]],
        ]
        #expect(try JSONValue.parse(value.encoded()) == value)
    }

    @Test("escapes", arguments: [(#""\u00e9""#, "é"), (#""\ud83d\ude00""#, "😀"), (#""\/\b\f\n\r\t""#, "/\u{8}\u{C}\n\r\t")])
    func escapes(text: String, expected: String) throws {
        #expect(try parse(text) == .string(expected))
    }

    @Test(
        "refused, with the offset",
        arguments: [
            ("", 0), ("{", 1), ("[1,]", 3), ("{\"a\":1,}", 7), ("01", 1), ("1.", 2), ("-", 1), ("+1", 0), ("tru", 3), ("nulL", 3),
            ("\"\t\"", 1), ("[1] 2", 4), ("'a'", 0), (#""\x""#, 2), ("{a:1}", 1), ("1e", 2), (".5", 0), ("NaN", 0),
        ])
    func refused(text: String, offset: Int) {
        #expect(throws: JSONError.unexpected(offset: offset)) { try parse(text) }
    }

    @Test("strings that are no text", arguments: [#""\ud800""#, #""\udc00""#, #""\ud800\u0041""#])
    func loneSurrogates(text: String) {
        #expect(throws: JSONError.badString(offset: 1)) { try parse(text) }
    }

    @Test("bytes that are no UTF-8")
    func invalidUTF8() {
        #expect(throws: JSONError.badString(offset: 0)) { try JSONValue.parse([0x22, 0xFF, 0x22]) }
        #expect(throws: JSONError.badString(offset: 0)) { try JSONValue.parse([0x22, 0xC0, 0x80, 0x22]) }
    }

    @Test("depth is bounded")
    func depth() throws {
        let deepest = String(repeating: "[", count: JSONValue.maximumDepth) + String(repeating: "]", count: JSONValue.maximumDepth)
        _ = try parse(deepest)
        #expect(throws: JSONError.tooDeep(offset: JSONValue.maximumDepth)) { try parse("[" + deepest + "]") }
    }

    @Test("numbers keep what they are")
    func numbers() throws {
        #expect(try parse("9223372036854775807") == .integer(.max))
        #expect(try parse("9223372036854775808") == .number(9_223_372_036_854_775_808))
        #expect(try parse("-0") == .number(-0.0))
        #expect(try parse("1e3") == .number(1000))
        #expect(throws: JSONError.badNumber(offset: 0)) { try parse("1e999") }
    }

    @Test("the last member of a name counts")
    func duplicateNames() throws {
        #expect(try parse(#"{"a":1,"a":2}"#)["a"] == 2)
    }
}
