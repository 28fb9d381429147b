import FrameCodec
import SocketCore

/// Says what an outcome means. No sockets, no clock: outcomes come in, faults go out.
struct TargetJudge {
    let layout: FrameLayout
    /// A plain device has no hello and no receipts.
    let isPlain: Bool
    /// The device's own frames may be as large as any.
    private let limits = FrameLimits(maximumBodyLength: 1 << 24)
    private(set) var boot: String?

    init(layout: FrameLayout, isPlain: Bool) {
        self.layout = layout
        self.isPlain = isPlain
    }

    /// The fault that this outcome shows in the device's state before the case: it's the doing of an earlier one.
    mutating func earlierFault(_ outcome: TargetOutcome) -> TargetFault? {
        if outcome.connectFailure != nil { return .refusal }
        if outcome.helloMissing { return outcome.ending == .open ? .hang : .refusal }
        guard let seen = outcome.boot else { return nil }
        defer { boot = seen }
        return boot.map { $0 != seen } == true ? .crash : nil
    }

    /// Forgets the boot id: a restart is expected.
    mutating func forgetBoot() { boot = nil }

    /// The fault that the device showed in the case itself, with the numbers.
    func fault(_ targetCase: TargetCase, _ outcome: TargetOutcome) -> (fault: TargetFault, detail: String)? {
        guard outcome.isHealthy else { return nil }
        var receipts: [UInt32] = []
        var decoder = FrameDecoder(layout: layout, limits: limits)
        do throws(FrameError) {
            try decoder.decode(outcome.received.span.bytes) { header, _ in
                if header.msgId != 0, header.bodyLength == 0 { receipts.append(header.msgId) }
                return .more
            }
        } catch {
            return isPlain ? nil : (.badAnswer, "after \(decoder.frameOffset) bytes: \(error)")
        }
        guard !isPlain else { return plainFault(targetCase, outcome) }
        if let wrong = receipts.first(where: { !targetCase.sentIds.contains($0) }) {
            return (.wrongReceipt, "receipt for \(wrong); sent were \(targetCase.sentIds.prefix(8))")
        }
        switch targetCase.expectation {
        case .survive: return nil
        case .rejection(let id):
            return receipts.contains(id) ? (.acceptsMalformed, "message \(id), sent behind the malformed header, was receipted") : nil
        case .receipts(let ids):
            let missing = ids.filter { !receipts.contains($0) }
            guard let first = missing.first else { return nil }
            let kept = outcome.ending == .open
            return (
                kept ? .lostReceipt : .closedOnGood,
                "\(missing.count) of \(ids.count) messages without a receipt, the first has id \(first); connection \(outcome.ending)"
            )
        }
    }

    private func plainFault(_ targetCase: TargetCase, _ outcome: TargetOutcome) -> (fault: TargetFault, detail: String)? {
        guard case .receipts = targetCase.expectation, outcome.ending != .open else { return nil }
        return (.closedOnGood, "connection \(outcome.ending)")
    }
}

/// Notices that answers take longer and longer.
struct LatencyWatch {
    /// Answers that a median is taken of: enough that single hiccups don't show.
    static let window = 24
    /// Growth that isn't noise, as a factor and as a span: a busy loopback doubles easily.
    static let factor = 4.0
    static let least = Duration.milliseconds(20)
    /// Growth over a level that was dismissed before it is looked into again: looking costs some ninety connections.
    static let dismissedFactor = 1.5

    private var first: [Duration] = []
    private var last: [Duration] = []
    /// A level that was looked into and found to be the network's or the machine's own doing.
    private var dismissed = Duration.zero

    /// Notes one answer's time; gives the medians at the start and now once the growth is beyond doubt.
    mutating func note(_ time: Duration) -> (before: Duration, now: Duration)? {
        if first.count < LatencyWatch.window {
            first.append(time)
            return nil
        }
        last.append(time)
        if last.count > LatencyWatch.window { last.removeFirst() }
        guard last.count == LatencyWatch.window else { return nil }
        let (before, now) = (LatencyWatch.median(first), LatencyWatch.median(last))
        let level = max(before.scaled(by: LatencyWatch.factor), dismissed.scaled(by: LatencyWatch.dismissedFactor))
        return now > level + LatencyWatch.least ? (before, now) : nil
    }

    /// Notes that the present slowness isn't the device's fault. The level at the start stays what growth is held against:
    /// otherwise a leak that was once taken for noise would have to grow fourfold again.
    mutating func dismiss() {
        if !last.isEmpty { dismissed = LatencyWatch.median(last) }
        last = []
    }

    private static func median(_ times: [Duration]) -> Duration { times.sorted()[times.count / 2] }
}
