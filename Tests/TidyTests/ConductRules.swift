extension Rule {
    /// More than this many means that the checker is being argued with instead of listened to.
    private static let mostUnchecked = 2

    static let uncheckedSendable = Rule(
        "at most two @unchecked Sendable in the sources, each with its reason in a comment above",
        all: { files in
            let found = files.filter(\.isSource).flatMap { file in
                let text = file.text
                return text.words.filter { $0.text == "@unchecked" }.map { (file, text, text.line(of: $0.offset)) }
            }
            let bare = found.filter { _, text, line in line < 2 || text.commentLines[line - 2].allSatisfy { $0 == " " } }
            let tooMany = found.dropFirst(mostUnchecked).map { $0.0.violation($0.2, "one @unchecked Sendable more than \(mostUnchecked)") }
            return bare.map { $0.0.violation($0.2, "@unchecked Sendable without a comment directly above") } + tooMany
        })

    private static let unsafe = "nonisolated" + "(unsafe)"

    static let escapes = Rule("nothing escapes the checker: no forced try or cast, and in the sources no \(unsafe)") { file in
        guard file.isSwift else { return [] }
        let escapes = (["try" + "!", " as" + "!"] + (file.isSource ? [unsafe] : [])).filter(file.mentions)
        guard !escapes.isEmpty else { return [] }
        return file.text.codeLines.enumerated().flatMap { index, line in
            escapes.filter { line.contains($0) }.map { file.violation(index + 1, "\($0.drop { $0 == " " })") }
        }
    }

    /// Written in two halves, so that this file doesn't break its own rule.
    private static let leftoverMarks = ["TO" + "DO", "FIX" + "ME", "XX" + "X:", "HA" + "CK"]

    static let leftovers = Rule("nothing is left for later in the code") { file in
        guard file.isSwift || file.path.hasSuffix(".md") || file.path.hasSuffix(".h") else { return [] }
        let marks = leftoverMarks.filter(file.mentions)
        guard !marks.isEmpty else { return [] }
        return file.source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            marks.filter { line.contains($0) }.map { file.violation(index + 1, $0) }
        }
    }

    /// Under set -e such a line goes by, whatever the command comes to.
    static let refusals = Rule("a script's line doesn't begin with !, which never ends it") { file in
        guard file.path.hasSuffix(".sh") else { return [] }
        return file.source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().compactMap { index, line in
            line.drop { $0 == " " }.hasPrefix("! ") ? file.violation(index + 1, "say if … then … exit 1") : nil
        }
    }

    /// What an error is called in the code, with its labels and numbers, is no answer to a person.
    static let sentences = Rule(
        "an error that is an enum has a description: shown raw, people would read Swift",
        all: { files in
            let sources = files.filter(\.isSource)
            let described = Set(
                sources.flatMap { heads("extension", $0.text) }.filter { $0.promises.contains("CustomStringConvertible") }.map(\.name))
            return sources.flatMap { file in
                heads("enum", file.text).compactMap { head in
                    guard head.promises.contains("Error"), !head.promises.contains("CustomStringConvertible"),
                        !described.contains(head.name)
                    else { return nil }
                    return file.violation(head.line, "\(head.name) has no description")
                }
            }
        })

    /// The declarations that begin with `keyword`: what is declared, and what stands behind the colon on its line.
    private static func heads(_ keyword: String, _ text: SwiftText) -> [(name: String, promises: Set<String>, line: Int)] {
        text.words.filter { $0.text == keyword }.compactMap { word in
            let parts = text.rest(of: word.offset + keyword.utf8.count).split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let name = parts[0].split(whereSeparator: { " .<".contains($0) }).last else { return nil }
            let promises = parts[1].split { !$0.isLetter && $0 != "@" }.map(String.init)
            return (String(name), Set(promises), text.line(of: word.offset))
        }
    }

    private static let sleepers: Set<String> = ["sleep", "usleep", "nanosleep", "asyncAfter", "clock_nanosleep"]

    static let sleeplessTests = Rule("a test waits for an event with a deadline, it doesn't sleep") { file in
        guard file.isTest else { return [] }
        let text = file.text
        return text.words.compactMap { word in
            guard sleepers.contains(word.text), text.next(from: word.offset + word.text.utf8.count)?.byte == UInt8(ascii: "(") else {
                return nil
            }
            return file.violation(text.line(of: word.offset), "\(word.text)()")
        }
    }

    private static let machineRoots = ["/wo" + "rk/", "/ro" + "ot/", "/ho" + "me/", "/Us" + "ers/"]

    static let machinePaths = Rule("no file names a path of the machine that it was made on") { file in
        let roots = machineRoots.filter(file.mentions)
        guard !roots.isEmpty else { return [] }
        return file.source.split(separator: "\n", omittingEmptySubsequences: false).enumerated().flatMap { index, line in
            roots.filter { root in
                // Part of a longer path, such as a URL's, is no path of a machine.
                line.ranges(of: root).contains { range in
                    range.lowerBound == line.startIndex || !isPathCharacter(line[line.index(before: range.lowerBound)])
                }
            }.map { file.violation(index + 1, "mentions \($0)") }
        }
    }

    private static func isPathCharacter(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "._-~$}".contains(character)
    }
}
