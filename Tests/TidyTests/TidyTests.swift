import Testing

/// The house rules, held over the project as it is.
struct TidyTests {
    @Test func `the project keeps its house rules`() throws {
        let files = try Project.files()
        // A walk that found nothing would hold every rule.
        try #require(files.contains { $0.path == "Package.swift" })
        try #require(files.count { $0.isSource } > 20)
        for rule in Rule.all {
            for violation in rule.check(files) { Issue.record("\(violation) (\(rule.name))") }
        }
    }
}

/// Each rule bites a sample that breaks it, at the right line, and leaves its neighbour alone.
struct RuleTests {
    private static let core = "Sources/SocketCore/Core/Sample.swift"
    private static let shell = "Sources/SocketCore/Sample.swift"
    private static let test = "Tests/SocketCoreTests/Sample.swift"

    private func lines(_ rule: Rule, _ path: String, _ source: String) -> [Int] {
        rule.check([ProjectFile(path: path, source: source)]).map(\.line)
    }

    @Test(arguments: [
        ("Sources/FrameCodec/A.swift", "import Synchronization"), ("Sources/SocketCore/A.swift", "import WifiDiscovery"),
        ("Sources/WifiDiscovery/A.swift", "@testable import wifictl"), ("Sources/wifictl/A.swift", "import CLinux"),
        ("Sources/wifictl/A.swift", "private import struct Foundation.Date"), ("Sources/Extra/A.swift", "import FrameCodec"),
    ])
    func `layering bites an import that goes up or past`(path: String, source: String) {
        #expect(lines(.layering, path, source) == [1])
    }

    @Test func `layering allows what lies below and ignores comments and strings`() {
        #expect(
            lines(
                .layering, "Sources/wifictl/A.swift",
                "import Glibc\npublic import WifiDiscovery\n// import CLinux\nlet a = \"import CLinux\""
            ).isEmpty)
        #expect(lines(.layering, "Sources/FrameCodec/A.swift", "/* import Glibc */ struct A {}").isEmpty)
    }

    @Test(arguments: [
        "import Glibc", "import Foundation", "let now = ContinuousClock.now", "let now = Date()", "let now = Date.now",
        "clock_gettime(CLOCK_MONOTONIC, &now)", "let x = Int.random(in: 0..<5)", "var g = SystemRandomNumberGenerator()",
        "let a = b.shuffled()", "print(1)", "let text = \"\\(Int.random(in: 0..<5))\"",
    ])
    func `a core with a system, a clock, dice or a print is bitten`(source: String) {
        #expect(lines(.pureCores, Self.core, "\n" + source) == [2])
        #expect(lines(.pureCores, "Sources/FrameCodec/Sample.swift", "\n" + source) == [2])
        #expect(lines(.pureCores, Self.shell, "\n" + source).isEmpty)
    }

    @Test(arguments: [
        "let x = Int.random(in: 0..<5, using: &generator)", "let a = b.shuffled(using: &g)", "func print(_ text: String)", "/// print(1)",
        "let date: Dates", "output.print(x)", "let s = \"Date()\"", "let s = #\"\\(print(1))\"#",
    ])
    func `a core with handed-in chance and innocent names is left alone`(source: String) {
        #expect(lines(.pureCores, Self.core, source).isEmpty)
    }

    @Test(arguments: [
        "let s = socket(AF_INET, 2, 0)", "Glibc.bind(s, a, b)", "if bind(s, a, b) != 0 {}", "CLinux.send(s, a, b, 0)", "recvmsg(s, &m, 0)",
    ])
    func `a socket function outside of the one file is bitten`(call: String) {
        #expect(lines(.socketFunctions, Self.shell, "import Glibc\n" + call) == [2])
        #expect(lines(.socketFunctions, "Sources/SocketCore/Sockets/SystemCalls+UDP.swift", "import Glibc\n" + call).isEmpty)
    }

    @Test(arguments: [
        "import Glibc\nsession.send(body)", "import Glibc\nfunc send(_ a: Int) {}\nsend(1)", "send(1)", "import Glibc\n// socket(1)",
        "import Glibc\nfunc socket(_ a: Int)",
    ])
    func `methods of ours with a socket function's name are left alone`(source: String) {
        #expect(lines(.socketFunctions, Self.shell, source).isEmpty)
    }

    @Test func `a file of 401 lines is bitten and one of 400 is not`() {
        #expect(lines(.fileLength, Self.shell, String(repeating: "\n", count: 401)) == [401])
        #expect(lines(.fileLength, Self.shell, String(repeating: "\n", count: 400)).isEmpty)
    }

    @Test(arguments: [
        "func a(b: () -> Int = { 1 }) -> [Int] where A: B {", "init?() throws {", "static func == (a: A, b: B) -> Bool {",
        "subscript(a: Int) -> Int {", "var a: Int {", "func `a sentence with a { in it`() async {",
    ])
    func `a function of 71 lines is bitten and one of 70 is not`(head: String) {
        func sample(_ count: Int) -> String { "\n" + head + "\n" + String(repeating: "    x() // }\n", count: count - 2) + "}\n" }
        #expect(lines(.functionLength, Self.shell, sample(71)) == [2])
        #expect(lines(.functionLength, Self.test, sample(71)) == [2])
        #expect(lines(.functionLength, Self.shell, sample(70)).isEmpty)
    }

    @Test func `a long type, protocol or table is no long function`() {
        let filler = String(repeating: "    let a = \"}\"\n", count: 80)
        #expect(lines(.functionLength, Self.shell, "struct A {\n    var b: Int = 1\n\(filler)}").isEmpty)
        #expect(lines(.functionLength, Self.shell, "protocol A { func a()\n}\nenum B {\n\(filler)}").isEmpty)
        #expect(lines(.functionLength, Self.shell, "let a = B.init(c)\nstruct D {\n\(filler)}").isEmpty)
    }

    @Test func `an unchecked Sendable without a reason and a third one are bitten`() {
        let good = "/// Why.\nfinal class A: @unchecked Sendable {}\n"
        #expect(lines(.uncheckedSendable, Self.shell, good + good).isEmpty)
        #expect(lines(.uncheckedSendable, Self.shell, "\nfinal class A: @unchecked Sendable {}") == [2])
        #expect(lines(.uncheckedSendable, Self.shell, good + good + good) == [6])
    }

    @Test func `escapes from the checker are bitten`() {
        for escape in ["nonisolated" + "(unsafe) var a = 1", "try" + "! a()", "let a = b as" + "! C"] {
            #expect(lines(.escapes, Self.shell, "\n" + escape) == [2])
            #expect(lines(.escapes, Self.test, "\n// " + escape).isEmpty)
        }
    }

    @Test func `work left for later is bitten`() {
        for mark in ["TO" + "DO: later", "FIX" + "ME"] {
            #expect(lines(.leftovers, Self.shell, "\n// " + mark) == [2])
            #expect(lines(.leftovers, "docs/a.md", "\n" + mark) == [2])
        }
        #expect(lines(.leftovers, Self.shell, "// to do well").isEmpty)
    }

    @Test func `a script's line that never fails is bitten`() {
        #expect(lines(.refusals, ".ci/a.sh", "set -e\n! grep a b\n  ! test -e c\nif ! test -e d; then exit 1; fi") == [2, 3])
        #expect(lines(.refusals, Self.shell, "! a").isEmpty)
    }

    @Test func `a test that sleeps is bitten`() {
        for call in ["try await Task.sleep" + "(for: .seconds(1))", "usleep" + "(5)", "q.asyncAfter" + "(deadline: d) {}"] {
            #expect(lines(.sleeplessTests, Self.test, "\n" + call) == [2])
            #expect(lines(.sleeplessTests, Self.shell, "\n" + call).isEmpty)
        }
    }

    @Test func `a path of a machine is bitten wherever it stands`() {
        for path in ["/wo" + "rk/main", "/ro" + "ot/.pyenv", "/ho" + "me/me/x"] {
            for file in [Self.shell, "README.md", "Makefile", "Fixtures/a.json"] {
                #expect(lines(.machinePaths, file, "\na: \(path)") == [2])
            }
        }
        #expect(lines(.machinePaths, "README.md", "frame/wo" + "rk/ and example.org/ho" + "me/x").isEmpty)
    }

    @Test func `an error that people would read in Swift's own words is bitten`() {
        #expect(lines(.sentences, Self.shell, "\npublic enum AError: Error, Equatable {}") == [2])
        #expect(lines(.sentences, Self.shell, "enum AError: Error, CustomStringConvertible {}").isEmpty)
        #expect(lines(.sentences, Self.shell, "enum AError: Error {}\nextension AError: CustomStringConvertible {}").isEmpty)
        #expect(lines(.sentences, Self.test, "enum AError: Error {}").isEmpty)
    }

    @Test func `prose that is too wide is bitten and a table is not`() {
        let wide = String(repeating: "a", count: 141)
        #expect(lines(.proseWidth, "README.md", "\n" + wide) == [2])
        #expect(lines(.proseWidth, "README.md", "| " + wide + " |").isEmpty)
    }
}
