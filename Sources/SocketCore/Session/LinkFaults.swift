import FrameCodec

/// Faults that a simulated router puts into its link, to show that nothing gets lost or doubled by them.
public struct LinkFaults: Sendable {
    /// What can be made to go wrong.
    public struct Options: Sendable, Equatable {
        /// The share of receipts that never leave, 0...1.
        public var lostReceipts = 0.0
        /// Reads at most that many bytes a second; nil for as many as come.
        public var readRate: Int?
        /// Where the dice start.
        public var seed: UInt64 = 0

        /// No faults.
        public init() {}

        /// Whether anything is to go wrong.
        public var isFaultless: Bool { lostReceipts == 0 && readRate == nil }
    }

    /// How often a slow reader looks at its allowance.
    private static let step = Duration.milliseconds(50)

    private let options: Options
    private let layout: FrameLayout
    private var random: SeededGenerator
    private var pending: [UInt8] = []
    private var allowance: Int
    private(set) var deadline = Instant.distantFuture
    /// Receipts that were lost on purpose.
    public private(set) var receiptsLost = 0

    init(_ options: Options, layout: FrameLayout) {
        self.options = options
        self.layout = layout
        random = SeededGenerator(seed: options.seed)
        allowance = options.readRate.map { LinkFaults.share($0) } ?? 0
    }

    var hasPending: Bool { !pending.isEmpty }

    /// Writes what isn't lost.
    ///
    /// - Returns: how many of the bytes count as written: all, since what the kernel doesn't take is kept here.
    mutating func pass(_ bytes: RawSpan, to stream: Stream) -> Int {
        var decoder = FrameDecoder(layout: layout, limits: FrameLimits(maximumBodyLength: Int(UInt32.max)))
        let encoder = FrameEncoder(layout: layout, limits: FrameLimits(maximumBodyLength: Int(UInt32.max)))
        var kept: [UInt8] = []
        do throws(FrameError) {
            try decoder.decode(bytes) { header, body in
                if header.msgId != 0, header.bodyLength == 0, random.chance(options.lostReceipts) {
                    receiptsLost += 1
                } else {
                    do throws(FrameError) {
                        try encoder.encode(msgId: header.msgId, version: header.version, body: body, into: &kept)
                    } catch {
                        preconditionFailure("our own frame can't be written again: \(error)")
                    }
                }
                return .more
            }
            try decoder.finish()
        } catch {
            preconditionFailure("our own output is no stream of whole frames: \(error)")
        }
        pending += kept
        let taken = stream.write(pending.span.bytes)
        pending.removeFirst(taken)
        return bytes.byteCount
    }

    /// What an earlier connection didn't take is void.
    mutating func connectionBegan() { pending = [] }

    /// Bytes were read: a slow reader that has had its allowance looks again later.
    mutating func received(_ count: Int, _ now: Instant) {
        guard options.readRate != nil else { return }
        allowance -= count
        if !mayRead, deadline == .distantFuture { deadline = now + LinkFaults.step }
    }

    /// Whether a slow reader may read on.
    var mayRead: Bool { options.readRate == nil || allowance > 0 }

    /// Time has passed: a slow reader may read a little more.
    mutating func refill(_ now: Instant) {
        guard let rate = options.readRate else { return }
        if deadline <= now { allowance = min(allowance + LinkFaults.share(rate), LinkFaults.share(rate)) }
        deadline = mayRead ? .distantFuture : now + LinkFaults.step
    }

    private static func share(_ rate: Int) -> Int { max(1, Int(Double(rate) * step.inMilliseconds / 1_000)) }
}
