extension Rule {
    /// What each target may import. Whoever may import something may not reach past it to what lies on top.
    private static let allowedImports: [String: Set<String>] = [
        "FrameCodec": [],
        "SocketCore": ["FrameCodec", "CLinux", "COpenSSL", "Glibc", "Synchronization", "Foundation"],
        "WifiDiscovery": ["SocketCore", "FrameCodec", "CLinux", "Glibc", "Synchronization", "Foundation"],
        "wifictl": ["WifiDiscovery", "SocketCore", "FrameCodec", "Glibc", "Synchronization", "Dispatch"],
    ]
    private static let allowedInCores: Set<String> = ["FrameCodec", "SocketCore"]

    static let layering = Rule("wifictl -> WifiDiscovery -> SocketCore -> FrameCodec, and nothing else is imported") { file in
        guard file.isSource, let allowed = allowedImports[file.target] else {
            return file.isSource && !["CLinux", "COpenSSL"].contains(file.target)
                ? [file.violation(1, "target \(file.target) has no place in the layering: give it one in LayerRules.swift")] : []
        }
        return imports(file).filter { !allowed.contains($0.module) }.map { file.violation($0.line, "\(file.target) imports \($0.module)") }
    }

    static let pureCores = Rule("a core has no system, no clock, no dice and prints nothing") { file in
        guard file.isCore else { return [] }
        let text = file.text
        let foreign = imports(file).filter { !allowedInCores.contains($0.module) }.map {
            file.violation($0.line, "a core imports \($0.module)")
        }
        return foreign
            + text.words.compactMap { word in
                impurity(word.text, word.offset, text).map { file.violation(text.line(of: word.offset), "\($0) in a core: \(word.text)") }
            }
    }

    private static let clocks: Set<String> = [
        "ContinuousClock", "SuspendingClock", "clock_gettime", "gettimeofday", "DispatchTime", "Date", "mach_absolute_time",
    ]
    private static let printers: Set<String> = ["print", "debugPrint", "dump", "fputs", "NSLog"]
    private static let dice: Set<String> = ["random", "shuffled", "shuffle", "randomElement"]

    private static func impurity(_ word: String, _ offset: Int, _ text: SwiftText) -> String? {
        if word == "SystemRandomNumberGenerator" || word == "arc4random" || word == "getrandom" { return "dice" }
        guard clocks.contains(word) || printers.contains(word) || dice.contains(word) else { return nil }
        let end = offset + word.utf8.count
        guard let next = text.next(from: end), !isDeclared(offset, text) else { return nil }
        let isCalled = next.byte == UInt8(ascii: "(")
        if clocks.contains(word), word != "Date" || isCalled || next.byte == UInt8(ascii: ".") { return "a clock" }
        if printers.contains(word), isCalled, text.previous(before: offset) != UInt8(ascii: ".") { return "printing" }
        // Chance from a generator that was handed in is no dice: `random(in: range, using: &generator)`.
        if dice.contains(word), isCalled, let close = text.closing(next.offset) {
            return String(decoding: text.code[next.offset..<close], as: UTF8.self).contains("using:") ? nil : "dice"
        }
        return nil
    }

    /// Socket functions whose names nothing of ours has.
    private static let plainSocketNames: Set<String> = [
        "socket", "socketpair", "accept4", "sendto", "recvfrom", "sendmsg", "recvmsg", "sendmmsg", "recvmmsg", "setsockopt", "getsockopt",
        "getsockname", "getpeername",
    ]
    /// Those that are everyday words too: only a bare call, in a file that sees libc and declares no such function, counts.
    private static let everydaySocketNames: Set<String> = ["bind", "connect", "listen", "accept", "send", "recv", "shutdown"]

    static let socketFunctions = Rule("only SystemCalls files call libc's socket functions") { file in
        guard file.isSource,
            !["Sockets", "Linux", "Portable"].contains(where: { file.path.hasPrefix("Sources/SocketCore/\($0)/SystemCalls") })
        else { return [] }
        let text = file.text
        let words = text.words
        let seesLibc = imports(file).contains { ["Glibc", "CLinux"].contains($0.module) }
        let declared = Set(zip(words, words.dropFirst()).filter { $0.0.text == "func" }.map { $0.1.text })
        return words.enumerated().compactMap { index, word in
            let isPlain = plainSocketNames.contains(word.text)
            guard isPlain || everydaySocketNames.contains(word.text), text.code.indices.contains(word.offset + word.text.utf8.count),
                text.code[word.offset + word.text.utf8.count] == UInt8(ascii: "("), !isDeclared(word.offset, text)
            else { return nil }
            let isMember = text.previous(before: word.offset) == UInt8(ascii: ".")
            let isQualified = isMember && index > 0 && ["Glibc", "CLinux"].contains(words[index - 1].text)
            let isBare = !isMember && seesLibc && !declared.contains(word.text)
            guard isQualified || isBare else { return nil }
            return file.violation(text.line(of: word.offset), "\(word.text)() outside of SocketCore's SystemCalls*.swift")
        }
    }

    static func imports(_ file: ProjectFile) -> [(module: String, line: Int)] {
        file.text.words.filter { $0.text == "import" }.compactMap { word in
            let line = file.text.line(of: word.offset)
            let words = file.text.code(ofLine: line).split(separator: " ")
            guard let keyword = words.firstIndex(of: "import"), words[..<keyword].allSatisfy({ $0.hasPrefix("@") || isAccess($0) }) else {
                return nil
            }
            let kinds: Set<Substring> = ["struct", "class", "enum", "func", "let", "var", "typealias", "protocol"]
            let named = words[(keyword + 1)...].first { !kinds.contains($0) }
            return named.map { (String($0.prefix { $0 != "." && $0 != ";" }), line) }
        }
    }

    private static func isAccess(_ word: Substring) -> Bool { ["public", "package", "internal", "private", "fileprivate"].contains(word) }

    /// Whether the name at `offset` is being declared (`func random(`) rather than used.
    private static func isDeclared(_ offset: Int, _ text: SwiftText) -> Bool {
        let before = text.code[..<offset].reversed().drop { $0 == 0x20 }.prefix { SwiftText.isWordByte($0) }
        return ["func", "case", "let", "var"].contains(String(decoding: before.reversed(), as: UTF8.self))
    }
}
