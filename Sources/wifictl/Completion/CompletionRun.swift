import SocketCore
import WifiDiscovery

/// The hidden question that the shells' scripts ask: `wifictl __complete WORD...`. One candidate a line, a tab before its note;
/// `:files` where files fit.
enum CompletionRun {
    static let word = "__complete"

    static func answer(_ words: [String], home: @escaping (String?) -> String?) -> String {
        var facts = CompletionCore.Facts()
        facts.routers = { routers(home(homeOption(words))) }
        facts.interfaces = {
            ((try? NetworkInterfaces.current()) ?? []).map {
                CompletionCore.Candidate(word: $0.name, note: $0.addresses.first.map { "\($0.address)" } ?? "")
            }
        }
        let answer = CompletionCore(commands: CommandRegistry.commands, facts: facts).answer(words)
        let lines = answer.candidates.map { $0.note.isEmpty ? $0.word : "\($0.word)\t\($0.note)" }
        return (lines + (answer.wantsFiles ? [":files"] : [])).joined(separator: "\n")
    }

    private static func homeOption(_ words: [String]) -> String? {
        for (index, word) in words.enumerated() {
            if word == "--home", index + 2 < words.count { return words[index + 1] }
            if word.hasPrefix("--home=") { return String(word.dropFirst(7)) }
        }
        return nil
    }

    /// Names where there are some, else MACs. A shell that completes has no place for errors: what can't be read is no offer.
    private static func routers(_ home: String?) -> [CompletionCore.Candidate] {
        guard let home, let directory = try? RouterDirectory(home: home).load() else { return [] }
        let known = directory.all.sorted { NaturalOrder($0.router.title) < NaturalOrder($1.router.title) }
        let named = known.map { router in
            CompletionCore.Candidate(
                word: router.router.name.isEmpty ? "\(router.router.mac)" : DisplayWidth.printable(router.router.name),
                note: "\(router.router.mac) \(router.address)")
        }
        return named + (directory.current == nil ? [] : [CompletionCore.Candidate(word: "current", note: "the current one")])
    }
}
