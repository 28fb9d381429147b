import SocketCore
import Testing

@testable import wifictl

struct OutputTests {
    @Test(arguments: [
        ("", 0), ("Attic", 5), ("Büro", 4), ("e\u{301}", 1), ("客厅", 4), ("カメラ", 6), ("🏠", 2), ("👨‍👩‍👧", 2), ("❤️", 2), ("🇩🇪", 2),
        ("a\u{200b}b", 2),
        ("한국", 4),
    ])
    func `columns are counted as a terminal does`(text: String, width: Int) {
        #expect(DisplayWidth.of(text) == width)
    }

    @Test func `text is shortened to whole characters with an ellipsis`() {
        #expect(DisplayWidth.fit("Attic", to: 5) == "Attic")
        #expect(DisplayWidth.fit("Attic", to: 4) == "Att…")
        #expect(DisplayWidth.fit("客厅路由", to: 6) == "客厅…")
        #expect(DisplayWidth.fit("客厅", to: 1) == "…")
        #expect(DisplayWidth.fit("a", to: 0) == "")
    }

    @Test func `text from the network can't move the cursor or forge a line`() {
        #expect(DisplayWidth.printable("a\u{1b}[2Jb\nc\r\u{202e}d\u{7f}") == "a?[2Jb?c??d?")
        #expect(DisplayWidth.printable("Büro 客厅 👨‍👩‍👧") == "Büro 客厅 👨‍👩‍👧")
    }

    @Test(
        arguments: [
            (0, "just now"), (59, "just now"), (60, "1 min ago"), (3_599, "59 min ago"), (3_600, "1 h ago"), (86_399, "23 h ago"),
            (86_400, "1 day ago"), (1_209_599, "13 days ago"), (1_209_600, "2026-11-16"), (-1, "2026-11-30"),
        ] as [(Int64, String)])
    func `a time of another day is told as people tell it`(past: Int64, text: String) {
        let now = WallTime(year: 2026, month: 11, day: 30)
        #expect(WallTime(seconds: now.seconds - past).agoText(at: now) == text)
    }

    private func sample() -> Table {
        var table = Table([.init("MAC"), .init("NAME", least: 4), .init("MODEL", least: 5), .init("MS", side: .right)])
        table.add(["02:00:5e:00:53:01", "The router in the attic", "AX-2 professional", "7"])
        table.add(["02:00:5e:00:53:02", "客厅", Table.Cell("AX", .green), "123"])
        return table
    }

    @Test func `a table without a width is as wide as it gets`() {
        #expect(
            sample().lines(width: nil, painted: false) == [
                "MAC                NAME                     MODEL               MS",
                "02:00:5e:00:53:01  The router in the attic  AX-2 professional    7",
                "02:00:5e:00:53:02  客厅                     AX                 123",
            ])
    }

    @Test(arguments: 39...70)
    func `a table is fitted by shortening what may be shortened and never an address`(width: Int) {
        let lines = sample().lines(width: width, painted: false)
        #expect(lines.allSatisfy { DisplayWidth.of($0) <= width })
        #expect(lines[1].hasPrefix("02:00:5e:00:53:01  ") && lines[1].hasSuffix("  7"))
    }

    @Test func `columns that may go do so, the last first, before a line is too wide`() {
        var table = Table([.init("MAC"), .init("ON", goes: 2), .init("DEVICE", least: 6, goes: 1)])
        table.add(["02:00:5e:00:53:01", "eth0", "Example AX-2"])
        #expect(table.lines(width: 33, painted: false)[1] == "02:00:5e:00:53:01  eth0  Example…")
        #expect(table.lines(width: 28, painted: false)[1] == "02:00:5e:00:53:01  eth0")
        #expect(table.lines(width: 20, painted: false) == ["MAC", "02:00:5e:00:53:01"])
    }

    @Test func `a sentence that doesn't fit goes on below, whole`() {
        var table = Table([.init("MAC"), .init("WHY", least: 10, wraps: true)])
        table.add(["02:00", Table.Cell("it offers no TLS at all", .red)])
        #expect(
            table.lines(width: 20, painted: false) == ["MAC    WHY", "02:00  it offers no", "       TLS at all"])
        #expect(table.lines(width: nil, painted: false)[1] == "02:00  it offers no TLS at all")
        #expect(table.lines(width: 20, painted: true)[2].hasSuffix("\u{1b}[31mTLS at all\u{1b}[0m"))
    }

    @Test func `a table that can't be fitted is as narrow as it gets`() {
        #expect(sample().lines(width: 10, painted: false)[1] == "02:00:5e:00:53:01  The…  AX-2…    7")
    }

    @Test func `colours surround the text only and end with it`() {
        let line = sample().lines(width: nil, painted: true)[2]
        #expect(line.contains("  \u{1b}[32mAX\u{1b}[0m                 123"))
    }

    @Test func `numbers in JSON lines are never rounded`() {
        #expect(JSONValue.whole(UInt32.max).text == "4294967295")
        #expect(JSONValue.whole(UInt64.max).text == "\"18446744073709551615\"")
        #expect(JSONValue.whole(Int?.none).text == "null")
        #expect(JSONValue.text(nil).text == "null")
        #expect(JSONValue.milliseconds(.milliseconds(17)).text == "17")
        #expect(JSONValue.milliseconds(.microseconds(1_234)).text == "1.234")
        #expect(JSONValue.hex([0, 0xAB]).text == "\"00ab\"")
    }

    @Test func `hex is read with blanks between and refused otherwise`() {
        #expect(Hex.bytes("00 aB\n1f".utf8) == [0, 0xAB, 0x1F])
        #expect(Hex.bytes("".utf8) == [])
        for wrong in ["0", "0g", "0x00", "00 1"] { #expect(Hex.bytes(wrong.utf8) == nil, "\(wrong)") }
        #expect(Hex.text([0xDE, 0xAD]) == "dead")
    }

    @Test(arguments: [
        (Duration.microseconds(420), "0.42 ms"), (.milliseconds(17), "17 ms"), (.milliseconds(3_240), "3.2 s"),
        (.seconds(125), "2 min 5 s"),
        (.zero, "0 s"),
    ])
    func `spans of time are short for people`(span: Duration, text: String) {
        #expect(span.briefText == text)
    }

    @Test func `the help of a family shows how each of its commands is called`() {
        for first in ["identity", "trust", "agent"] {
            let family = CommandRegistry.commands.filter { $0.name.hasPrefix(first + " ") }
            let help = HelpText(width: 80).render(family: family)
            for command in family { #expect(help.contains("\n  \(command.examples[0].line)\n"), "\(command.name)") }
        }
    }

    @Test func `help fits its width and shows options, defaults and examples`() {
        let span = DefaultedOption("for", "TIME", .duration, default: .seconds(3), shown: "3s", "how long to look around for routers")
        let bssid = RepeatedOption("bssid", "MAC", .text, "an address")
        let command = Command(
            name: "sample", summary: "samples", positionals: ["ROUTER", "[BODY...]"],
            discussion: String(repeating: "many words ", count: 30),
            options: [span, bssid], examples: [.init("wifictl sample attic", "samples the attic")]
        ) { _, _ in .success }
        for width in [60, 80, 110] {
            let help = HelpText(width: width).render(command)
            #expect(help.split(separator: "\n").allSatisfy { $0.count <= width })
            for part in [
                "Usage: wifictl sample [OPTIONS] ROUTER [BODY...]", "--for TIME", "default 3s", "--bssid MAC", "may be", "--interface NAME",
                "wifictl sample attic",
            ] { #expect(help.contains(part), "\(part)") }
        }
    }
}
