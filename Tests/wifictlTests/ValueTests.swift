import Testing

@testable import wifictl

struct ValueTests {
    private func read<Value>(_ text: String, _ kind: ValueKind<Value>) -> Value? { try? kind.parse(text) }

    @Test(arguments: [
        ("300ms", 300_000_000), ("2s", 2_000_000_000), ("1.5s", 1_500_000_000), ("0s", 0), ("1m", 60_000_000_000),
        ("2h", 7_200_000_000_000),
        ("0.25m", 15_000_000_000), ("250us", 250_000), ("5ns", 5), ("0.000000001s", 1),
    ])
    func `times are read exactly`(text: String, nanoseconds: Int64) {
        #expect(read(text, .duration) == .nanoseconds(nanoseconds))
    }

    @Test(arguments: [
        "", "3", "s", "-1s", "+1s", "1 s", "1.s", ".5s", "1.2.3s", "1S", "1sec", "٣s", "1.5ns", "999999999999h", "0x5s", "1e3s",
        "1.0000000001s",
    ])
    func `what is no time is refused`(text: String) {
        #expect(read(text, .duration) == nil)
    }

    @Test(arguments: [
        ("0", 0), ("123", 123), ("64KiB", 65_536), ("1MiB", 1_048_576), ("1.5KiB", 1_536), ("2GiB", 2_147_483_648), ("10B", 10),
        ("1kB", 1_000),
        ("1MB", 1_000_000),
    ])
    func `sizes are read exactly`(text: String, bytes: Int) {
        #expect(read(text, .size) == bytes)
    }

    @Test(arguments: ["", "KiB", "-1", "1.5", "0.3KiB", "1 MiB", "1mib", "1M", "9999999999GiB", "9223372036854775808"])
    func `what is no size is refused`(text: String) {
        #expect(read(text, .size) == nil)
    }

    @Test func `whole numbers keep to their range and may be hexadecimal`() {
        let port = ValueKind<UInt16>.integer(in: 1...65_535)
        #expect(read("1", port) == 1)
        #expect(read("65535", port) == 65_535)
        #expect(read("0xff", port) == 255)
        for wrong in ["0", "65536", "-1", "", "1.0", " 1", "0x", "0x-1", "0x+1", "0x10000", "eight"] {
            #expect(read(wrong, port) == nil, "\(wrong)")
        }
        #expect(read("18446744073709551615", ValueKind<UInt64>.integer()) == .max)
        #expect(throws: ValueProblem("isn't a whole number from 1 to 65535")) { try port.parse("0") }
    }

    @Test(arguments: [("0", 0.0), ("1", 1.0), ("0.2", 0.2), ("1.0", 1.0), (".5", 0.5)])
    func `probabilities lie between 0 and 1`(text: String, value: Double) {
        #expect(read(text, .probability) == value)
    }

    @Test(arguments: ["", "-0.1", "1.01", "20%", "nan", "inf", "1e-3", "."])
    func `what is no probability is refused`(text: String) {
        #expect(read(text, .probability) == nil)
    }

    @Test func `choices answer a near miss with the nearest word and another with all of them`() {
        let layout = ValueKind.choice([("standard", 1), ("littleEndian", 2), ("asciiLength", 3)])
        #expect(read("littleEndian", layout) == 2)
        #expect(throws: ValueProblem("isn't known", hint: "did you mean littleEndian?")) { try layout.parse("littleendian") }
        #expect(throws: ValueProblem("isn't known", hint: "one of standard, littleEndian, asciiLength")) { try layout.parse("qqqqqqqqqq") }
    }

    @Test func `lists are cut at commas and each part is checked`() {
        let list = ValueKind<[String]>.list(of: .word(["native", "ssdp", "mdns"]))
        #expect(read("native,ssdp", list) == ["native", "ssdp"])
        #expect(read("native", list) == ["native"])
        for wrong in ["", "native,", ",native", "native,,ssdp", "native,sdp2x"] { #expect(read(wrong, list) == nil, "\(wrong)") }
    }

    @Test func `the nearest word is found by slips of the finger and never from afar`() {
        let words = ["discover", "verify", "send", "set", "switch", "routers", "router"]
        #expect(Suggestion.nearest(to: "dicsover", among: words) == "discover")
        #expect(Suggestion.nearest(to: "discovr", among: words) == "discover")
        #expect(Suggestion.nearest(to: "SEND", among: words) == "send")
        #expect(Suggestion.nearest(to: "disc", among: words) == "discover")
        #expect(Suggestion.nearest(to: "ro", among: words) == nil)
        #expect(Suggestion.nearest(to: "banana", among: words) == nil)
        #expect(Suggestion.nearest(to: "", among: words) == nil)
        #expect(Suggestion.distance(Array("ca"), Array("abc")) == 3)
        #expect(Suggestion.distance(Array("form"), Array("from")) == 1)
    }
}
