import SocketCore

extension TargetCase {
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("kind", .string(kind)), .init("opening", .string(opening.rawValue)), .init("closing", .string(closing.rawValue)),
            .init("writes", .array(writes.map { .hex($0) })), .init("pauseMs", .milliseconds(pause)),
            .init("companions", .whole(companions)), .init("ids", .array(sentIds.map { .whole($0) })),
        ]
        switch expectation {
        case .survive: break
        case .receipts(let ids): members.append(.init("receipts", .array(ids.map { .whole($0) })))
        case .rejection(let id): members.append(.init("rejects", .whole(id)))
        }
        return .object(members)
    }

    /// Reads what ``json`` wrote; nil when something is missing.
    init?(_ json: JSONValue) {
        guard let kind = json["kind"]?.stringValue, let opening = json["opening"]?.stringValue.flatMap(Opening.init(rawValue:)),
            let closing = json["closing"]?.stringValue.flatMap(Closing.init(rawValue:)), let texts = json["writes"]?.arrayValue
        else { return nil }
        let writes = texts.compactMap { $0.stringValue.flatMap { Hex.bytes($0.utf8) } }
        guard writes.count == texts.count else { return nil }
        self.init(kind: kind, opening: opening, writes: writes, closing: closing)
        pause = .milliseconds(min(max(0, json["pauseMs"]?.doubleValue ?? 0), 10_000))
        // More connections than any case has would be an attack, not a replay.
        companions = Int(min(max(0, json["companions"]?.integerValue ?? 0), 64))
        sentIds = TargetCase.ids(json["ids"])
        if json["receipts"] != nil { expectation = .receipts(TargetCase.ids(json["receipts"])) }
        if let id = json["rejects"]?.integerValue { expectation = .rejection(of: UInt32(truncatingIfNeeded: id)) }
    }

    private static func ids(_ json: JSONValue?) -> [UInt32] {
        (json?.arrayValue ?? []).compactMap { $0.integerValue.flatMap { UInt32(exactly: $0) } }
    }
}
