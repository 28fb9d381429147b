import FrameCodec
import SocketCore

/// Makes the cases for a device: the frame's edges, the session's rules, and what strangers send to a port.
///
/// Nothing that it sends changes a device's settings or asks it to restart: no `set`, no `reboot`.
struct TargetGenerator {
    let seed: UInt64
    let layout: FrameLayout
    /// The largest body that the device accepts.
    let limit: Int
    let isPlain: Bool

    /// Bodies up to this size are sent whole; larger ones are only declared, except at the limit itself now and then.
    private static let wholeBody = 70_000

    /// The case with this number.
    func make(_ index: UInt64) -> TargetCase {
        var dice = SeededGenerator.forRun(index, seed: seed)
        switch dice.below(20) {
        case 0..<4: return wellFormed(&dice)
        case 4..<6: return edgeBody(&dice)
        case 6..<9: return malformedLength(&dice)
        case 9: return wrongVersion(&dice)
        case 10..<12: return truncated(&dice)
        case 12: return slowBytes(&dice)
        case 13: return isPlain ? wellFormed(&dice) : ledger(&dice)
        case 14: return isPlain ? malformedLength(&dice) : oddBody(&dice)
        case 15: return isPlain ? truncated(&dice) : oddHello(&dice)
        case 16: return stranger(&dice)
        case 17: return hoard(&dice)
        case 18: return damaged(&dice)
        default: return TargetCase(kind: "connection without a byte", opening: .raw, closing: dice.once(in: 2) ? .close : .reset)
        }
    }

    // MARK: Right streams

    private func wellFormed(_ dice: inout SeededGenerator) -> TargetCase {
        let count = 1 + dice.below(12)
        var stream: [UInt8] = []
        let first = 1 + UInt32(dice.below(1_000))
        for id in first..<first + UInt32(count) { stream += frame(id, text(dice.below(40) + 1, &dice)) }
        var made = receipted("\(count) well-formed messages, cut at random", Array(first..<first + UInt32(count)))
        made.kind = "well-formed messages, cut at random"
        made.writes = pieces(stream, &dice)
        return made
    }

    private func edgeBody(_ dice: inout SeededGenerator) -> TargetCase {
        let most = min(limit, layout.maximumExpressibleLength)
        var sizes = [1, 9, 10, 11, 255, 256, 1_024, 1_460, 4_095, 4_096, 4_097, 8_192, 65_535, 65_536].filter { $0 <= most }
        // The limit is the size that matters most, and too slow to send each time where it is large.
        if most <= TargetGenerator.wholeBody || dice.once(in: 8) { sizes.append(most) }
        let size = dice.pick(sizes)
        var made = receipted("well-formed body of \(size) bytes", [7])
        made.writes = [frame(7, text(size, &dice))]
        return made
    }

    private func ledger(_ dice: inout SeededGenerator) -> TargetCase {
        switch dice.below(4) {
        case 0:
            var made = receipted("a hundred heartbeats, then a message", [5])
            made.writes = [Array(repeating: frame(0, []), count: 100).flatMap(\.self) + frame(5, text(3, &dice))]
            return made
        case 1:
            var made = receipted("receipts for ids that were never sent, then a message", [5])
            made.writes = [HostileValues.msgIds.dropFirst().flatMap { frame($0, []) } + frame(5, text(3, &dice))]
            return made
        case 2:
            var made = receipted("one message three times", [9])
            made.writes = Array(repeating: frame(9, text(8, &dice)), count: 3)
            return made
        default:
            var made = receipted("ids at the end of their range", [0xFFFF_FFFE, 0xFFFF_FFFF, 1])
            made.writes = [made.sentIds.flatMap { frame($0, text(4, &dice)) }]
            return made
        }
    }

    private func oddBody(_ dice: inout SeededGenerator) -> TargetCase {
        var made = receipted("a body that is odd JSON", [3])
        made.expectation = .survive
        made.writes = [frame(3, dice.pick(TargetBodies.oddRequests))]
        return made
    }

    // MARK: Wrong streams

    private func malformedLength(_ dice: inout SeededGenerator) -> TargetCase {
        let fields =
            layout == .asciiLength
            ? HostileValues.digitFields.filter { TargetGenerator.isMalformed($0) }
            : (HostileValues.lengths + [UInt32(clamping: limit + 1)]).filter { Int($0) > limit }
                .map { HostileValues.lengthField(Int($0), layout) }
        var made = TargetCase(kind: "a length that can't be right, then a message")
        var stream = dice.once(in: 2) ? frame(1, text(5, &dice)) : []
        made.sentIds = [1, 2]
        HeaderWriter.append(msgId: 3, version: 1, lengthField: dice.pick(fields), layout, to: &stream)
        made.writes = pieces(stream + frame(2, text(5, &dice)), &dice)
        made.expectation = .rejection(of: 2)
        return made
    }

    private func wrongVersion(_ dice: inout SeededGenerator) -> TargetCase {
        // A plain device may speak any version but 0.
        let version: UInt16 = isPlain ? 0 : dice.pick([0, 2, 0x0100, 0xFFFF])
        var stream: [UInt8] = []
        HeaderWriter.append(msgId: 4, version: version, lengthField: HostileValues.lengthField(0, layout), layout, to: &stream)
        var made = TargetCase(kind: "version \(version), then a message", writes: [stream + frame(2, text(5, &dice))])
        made.sentIds = [2]
        made.expectation = .rejection(of: 2)
        return made
    }

    private func truncated(_ dice: inout SeededGenerator) -> TargetCase {
        let whole = frame(6, text(1 + dice.below(300), &dice))
        let cut = dice.once(in: 2) ? 1 + dice.below(10) : 1 + dice.below(whole.count - 1)
        let closing: TargetCase.Closing = dice.pick([.close, .halfClose, .reset])
        return TargetCase(
            kind: "a frame cut off \(cut < FrameHeader.byteCount ? "in its header" : "in its body"), then \(closing.rawValue)",
            writes: [Array(whole.prefix(cut))], closing: closing, sentIds: [6])
    }

    private func slowBytes(_ dice: inout SeededGenerator) -> TargetCase {
        var made = receipted("a message byte by byte", [8])
        made.writes = frame(8, text(1 + dice.below(10), &dice)).map { [$0] }
        made.pause = .milliseconds(2)
        return made
    }

    private func oddHello(_ dice: inout SeededGenerator) -> TargetCase {
        let (name, body) = dice.pick(TargetBodies.oddHellos)
        return TargetCase(kind: "hello: \(name)", opening: .raw, writes: [frame(name == "with an id" ? 1 : 0, body)])
    }

    private func stranger(_ dice: inout SeededGenerator) -> TargetCase {
        TargetCase(kind: "another protocol's first bytes", opening: .raw, writes: [dice.pick(HostileValues.otherProtocols)])
    }

    /// Connections that each declare the largest body and send none of it: memory must not follow what is only declared.
    private func hoard(_ dice: inout SeededGenerator) -> TargetCase {
        var header: [UInt8] = []
        let most = min(limit, layout.maximumExpressibleLength)
        HeaderWriter.append(msgId: 1, version: 1, lengthField: HostileValues.lengthField(most, layout), layout, to: &header)
        return TargetCase(
            kind: "connections that declare the limit and send nothing", opening: .raw, writes: [header], companions: 7, sentIds: [1])
    }

    private func damaged(_ dice: inout SeededGenerator) -> TargetCase {
        var stream: [UInt8] = []
        for id in 1...4 as ClosedRange<UInt32> { stream += frame(id, text(dice.below(30) + 1, &dice)) }
        CaseMutator.mutate(&stream, layout: layout, &dice)
        return TargetCase(kind: "damaged frames", writes: pieces(stream, &dice), sentIds: TargetGenerator.ids(stream, layout))
    }

    // MARK: Parts

    private func receipted(_ kind: String, _ ids: [UInt32]) -> TargetCase {
        TargetCase(kind: kind, expectation: .receipts(ids), sentIds: ids)
    }

    private func frame(_ id: UInt32, _ body: [UInt8]) -> [UInt8] {
        var bytes: [UInt8] = []
        HeaderWriter.append(msgId: id, version: 1, lengthField: HostileValues.lengthField(body.count, layout), layout, to: &bytes)
        return bytes + body
    }

    private func text(_ count: Int, _ dice: inout SeededGenerator) -> [UInt8] {
        (0..<count).map { _ in UInt8(ascii: "a") + UInt8(dice.below(26)) }
    }

    private func pieces(_ stream: [UInt8], _ dice: inout SeededGenerator) -> [[UInt8]] {
        guard dice.once(in: 2), stream.count > 1 else { return [stream] }
        var pieces: [[UInt8]] = []
        var rest = stream[...]
        while !rest.isEmpty, pieces.count < 20 {
            pieces.append(Array(rest.prefix(1 + dice.below(24))))
            rest = rest.dropFirst(pieces[pieces.count - 1].count)
        }
        return rest.isEmpty ? pieces : pieces + [Array(rest)]
    }

    private static func isMalformed(_ field: UInt32) -> Bool {
        var header: [UInt8] = []
        HeaderWriter.append(msgId: 1, version: 1, lengthField: field, .asciiLength, to: &header)
        if case .malformedLength = ReferenceDecoder(layout: .asciiLength).answer(to: header, ended: false).error { return true }
        return false
    }

    /// The ids that a right device may receipt.
    private static func ids(_ stream: [UInt8], _ layout: FrameLayout) -> [UInt32] {
        ReferenceDecoder(layout: layout).answer(to: stream, ended: false).frames.map(\.msgId)
    }
}
