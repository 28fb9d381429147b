import SocketCore
import WifiDiscovery

/// The hidden question that the shells' scripts ask: `wifictl __complete WORD...`. One candidate a line, a tab before its note;
/// `:files` where files fit.
enum CompletionRun {
    static let word = "__complete"

    static func answer(_ words: [String], home: @escaping (String?) -> String?) -> String {
        var facts = CompletionCore.Facts()
        // Who types nothing is shown each router once.
        facts.routers = { routers(home(homeOption(words)), byAddress: words.last?.isEmpty == false) }
        facts.interfaces = {
            ((try? NetworkInterfaces.current()) ?? []).map {
                CompletionCore.Candidate(word: $0.name, note: $0.addresses.first.map { "\($0.address)" } ?? "")
            }
        }
        facts.trusted = { trusted(home(homeOption(words))) }
        facts.pinned = { pinned(home(homeOption(words))) }
        let sample = SampleDevice(mac: "", ssid: "")
        (facts.properties, facts.streams) = (sample.properties.map(\.name), sample.streamNames)
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

    private static func trusted(_ home: String?) -> [CompletionCore.Candidate] {
        guard let home, let kept = try? TrustState(home: home).load() else { return [] }
        return kept.items.map { CompletionCore.Candidate(word: DisplayWidth.printable($0.name), note: $0.kind.rawValue) }
    }

    private static func pinned(_ home: String?) -> [CompletionCore.Candidate] {
        guard let home, let kept = try? TrustState(home: home).load() else { return [] }
        return kept.memory.records.filter { $0.value.pin != nil }.keys.sorted().map { CompletionCore.Candidate(word: "\($0)", note: "") }
    }

    /// Names where there are some, and MACs. A shell that completes has no place for errors: what can't be read is no offer.
    private static func routers(_ home: String?, byAddress: Bool) -> [CompletionCore.Candidate] {
        guard let home, let directory = try? RouterDirectory(home: home).load() else { return [] }
        let known = directory.all.sorted { NaturalOrder($0.router.title) < NaturalOrder($1.router.title) }
        let named = known.map { router in
            CompletionCore.Candidate(
                word: router.router.name.isEmpty ? "\(router.router.mac)" : DisplayWidth.printable(router.router.name),
                note: "\(router.router.mac) \(router.address)")
        }
        let addresses = known.filter { byAddress && !$0.router.name.isEmpty }.map { router in
            CompletionCore.Candidate(word: "\(router.router.mac)", note: DisplayWidth.printable(router.router.name))
        }
        return named + addresses + (directory.current == nil ? [] : [CompletionCore.Candidate(word: "current", note: "the current one")])
    }
}
