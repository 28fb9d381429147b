import FrameCodec
import SocketCore

/// A fault with the case that shows it: what goes into an artifact file and comes out of it.
struct Finding: Equatable, Sendable {
    var fuzzCase: FuzzCase
    var disagreement: Disagreement
    /// The campaign and the run in it that found the case, before it was made smaller.
    var seed: UInt64
    var run: UInt64

    /// The name of its file: one a kind, campaign and run.
    var fileName: String { "\(disagreement.kind.rawValue)-\(seed)-\(run).json" }

    /// The members of the `finding` line, which are those of the file as well.
    func members(file: String?) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            .init("kind", .string(disagreement.kind.rawValue)), .init("seed", .whole(seed)), .init("run", .whole(run)),
            .init("drive", .string(disagreement.drive.rawValue)), .init("detail", .string(disagreement.detail)),
        ]
        members += fuzzCase.members
        if let file { members.append(.init("file", .string(file))) }
        return members
    }

    /// The artifact file's content: one JSON line.
    var fileContent: [UInt8] {
        JSONValue.object([.init("type", "finding")] + members(file: nil)).encoded() + [UInt8(ascii: "\n")]
    }
}

extension FuzzCase {
    /// The case as JSON members: `layout`, `limit`, `versions` (first and last), `cuts` (offsets) and `input` (hex).
    var members: [JSONValue.Member] {
        [
            .init("layout", .string("\(layout)")), .init("limit", .whole(limits.maximumBodyLength)),
            .init("versions", .array([.whole(limits.versions.lowerBound), .whole(limits.versions.upperBound)])),
            .init("cuts", .array(cuts.map { .whole($0) })), .init("input", .hex(bytes)),
        ]
    }

    /// Reads what ``members`` wrote; nil when something is missing or out of its range.
    init?(_ json: JSONValue) {
        guard let name = json["layout"]?.stringValue, let layout = FrameLayout.allCases.first(where: { "\($0)" == name }),
            let limit = json["limit"]?.integerValue, (0...Int64(UInt32.max)).contains(limit),
            let bounds = json["versions"]?.arrayValue, bounds.count == 2,
            let first = bounds[0].integerValue.flatMap({ UInt16(exactly: $0) }),
            let last = bounds[1].integerValue.flatMap({ UInt16(exactly: $0) }), first > 0, first <= last,
            let bytes = json["input"]?.stringValue.flatMap({ Hex.bytes($0.utf8) })
        else { return nil }
        let cuts = (json["cuts"]?.arrayValue ?? []).compactMap { $0.integerValue.flatMap { Int(exactly: $0) } }
        guard cuts.allSatisfy({ (0...bytes.count).contains($0) }), zip(cuts, cuts.dropFirst()).allSatisfy({ $0 <= $1 }) else { return nil }
        self.init(layout: layout, limits: FrameLimits(maximumBodyLength: Int(limit), versions: first...last), bytes: bytes, cuts: cuts)
    }
}
