import Foundation
import SocketCore
import TestSupport
import Testing

/// What every JSON line promises to scripts: strict JSON, the type first, no member twice, and the members that docs/json.md gives the type.
enum JSONContract {
    /// Members by type, as docs/json.md tells them to people; more may be there.
    static let members: [String: [String]] = {
        let lines = (try? DocumentBlock.document("docs/json.md"))?.split(separator: "\n") ?? []
        let rows = lines.map { $0.split(separator: "|", omittingEmptySubsequences: false).map { codes(in: $0) } }
        return Dictionary(rows.filter { $0.count == 6 && $0[1].count == 1 }.map { ($0[1][0], $0[3]) }) { first, _ in first }
    }()

    /// What stands in code marks.
    private static func codes(in cell: Substring) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }.map { String($0.element) }
    }

    private static let inner: [String: [String: [String]]] = [
        "router": ["evidence": ["gateway", "neighbour", "onlyResponder"]],
        "verdict": ["certificate": ["serial", "mac", "bssids", "notAfter", "issuer"]],
    ]
    private static let words: [String: [String: Set<String>]] = [
        "selected": ["why": ["exact", "radio", "family", "gateway", "conflict", "none"]],
        "verdict": ["verdict": ["company", "foreign", "impostor", "vouched", "pinned", "unproven"]],
        "session": ["state": ["connecting", "open", "resumed", "lost", "reconnecting", "suspended", "closed"]],
        "outcome": ["outcome": ["delivered", "notSent", "unknown", "cancelled"]],
        "check": ["verdict": ["fine", "note", "unknown", "cause"]],
    ]

    /// Checks each line; gives the types in order.
    @discardableResult
    static func check(_ lines: [String], _ command: String) throws -> [String] {
        try lines.map { line in
            let members = try #require(try JSONValue.parse(Array(line.utf8)).objectValue, "\(command): \(line)")
            // A second reader, in case ours is lenient in the way that our writer is wrong.
            _ = try JSONSerialization.jsonObject(with: Data(line.utf8))
            let type = try #require(members.first?.name == "type" ? members.first?.value.stringValue : nil, "\(command): \(line)")
            let names = members.map(\.name)
            #expect(Set(names).count == names.count, "\(command): a member twice: \(line)")
            let wanted = try #require(self.members[type], "\(command): a type that nobody was told of: \(line)")
            let missing = wanted.filter { !names.contains($0) }
            #expect(missing.isEmpty, "\(command): \(type) lacks \(missing): \(line)")
            let value = JSONValue.object(members)
            for (name, parts) in inner[type] ?? [:] {
                guard let object = value[name], object != .null else { continue }
                #expect(parts.allSatisfy { object[$0] != nil }, "\(command): \(type).\(name): \(line)")
            }
            for (name, allowed) in words[type] ?? [:] {
                #expect(value[name]?.stringValue.map(allowed.contains) == true, "\(command): \(type).\(name): \(line)")
            }
            return type
        }
    }
}
