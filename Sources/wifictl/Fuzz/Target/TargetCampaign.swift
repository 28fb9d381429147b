import FrameCodec
import SocketCore

/// A fault of a device, with the cases that bring it about.
struct TargetFinding: Equatable, Sendable {
    var fault: TargetFault
    /// A sentence with the numbers.
    var detail: String
    /// The one case, or the shortest sequence found.
    var sequence: [TargetCase]
    /// Whether doing the sequence again brought the fault about again.
    var isReproduced: Bool
    /// Whether the device was gone for good when the search ended.
    var isDown: Bool
    var seed: UInt64
    /// The number of the case after which the fault was noticed.
    var index: UInt64
}

/// Does cases to a device one after another, asks after its health behind each, and finds out who is to blame. All that it
/// knows of the world comes through its link, so that tests can give it a device that isn't there.
struct TargetCampaign<Link: TargetLink> {
    /// Bounds, each with its reason.
    struct Settings: Sendable {
        /// Cases a second: far below what a small device's network stack notices.
        var rate = 20.0
        /// A device with a watchdog is back by then.
        var recovery = Duration.seconds(30)
        /// Cases remembered: a fault that needs more of them together isn't found by doing them again.
        var history = 64
        /// A fault is only one when it shows again, or when two more questions stay unanswered.
        var confirmations = 2
        var retryPause = Duration.milliseconds(250)
    }

    var link: Link
    let generator: TargetGenerator
    let settings: Settings
    var judge: TargetJudge
    private(set) var index: UInt64 = 0
    /// Faults that didn't show a second time: a lossy link, or a device that is slow now and then.
    private(set) var unconfirmed = 0
    private(set) var isDown = false
    private var history: [TargetCase] = []
    private var latency = LatencyWatch()
    private var known: Set<String> = []
    /// Set when answers have become slow: the medians at first and now.
    private var slowed: (before: Duration, now: Duration)?

    init(link: Link, generator: TargetGenerator, settings: Settings = Settings()) {
        self.link = link
        self.generator = generator
        self.settings = settings
        judge = TargetJudge(layout: generator.layout, isPlain: generator.isPlain)
    }

    /// The question whose answer shows that a device is well.
    var healthCheck: TargetCase {
        var body: [UInt8] = []
        HeaderWriter.append(
            msgId: 1, version: 1, lengthField: HostileValues.lengthField(2, generator.layout), generator.layout, to: &body)
        return TargetCase(
            kind: "health check", writes: [body + Array("ok".utf8)], expectation: .receipts([1]), sentIds: [1])
    }

    /// Why a device can't be begun with.
    enum Obstacle: Equatable {
        /// There's no connection; the reason.
        case unreachable(String)
        /// It keeps the connection and says nothing.
        case silent
        /// It closes the connection.
        case closes
        /// It speaks TLS.
        case speaksTLS
    }

    /// Whether the device can be talked to before anything was done to it; nil, or what stands in the way.
    mutating func obstacle() -> Obstacle? {
        let outcome = link.perform(healthCheck)
        _ = judge.earlierFault(outcome)
        if let reason = outcome.connectFailure { return .unreachable(reason) }
        if outcome.speaksTLS { return .speaksTLS }
        if outcome.helloMissing { return outcome.ending == .open ? .silent : .closes }
        if let time = outcome.helloTime { _ = latency.note(time) }
        return nil
    }

    /// Whether the device can be talked to; nil, or what is wrong with it.
    mutating func ailment() -> TargetFault? {
        let outcome = link.perform(healthCheck)
        if let fault = judge.earlierFault(outcome) { return fault }
        if let time = outcome.helloTime, let growth = latency.note(time) { slowed = growth }
        return nil
    }

    /// Does the next case; gives what it brought to light.
    mutating func step() -> TargetFinding? {
        let started = link.now
        let targetCase = generator.make(index)
        defer { index += 1 }
        let outcome = link.perform(targetCase)
        history.append(targetCase)
        if history.count > settings.history { history.removeFirst() }
        var finding: TargetFinding?
        if let (fault, detail) = judge.fault(targetCase, outcome) { finding = confirmed(targetCase, fault, detail) }
        if let ailment = ailment() {
            finding = diagnosed(ailment)
        } else if let slowed {
            self.slowed = nil
            finding = blamed(slowed)
        }
        link.pause(.seconds(1).scaled(by: 1 / settings.rate) - (link.now - started))
        return finding
    }

    // MARK: Faults within a case

    /// Does the case again: a fault that doesn't show again is counted and not reported.
    private mutating func confirmed(_ targetCase: TargetCase, _ fault: TargetFault, _ detail: String) -> TargetFinding? {
        guard isNew(fault, targetCase) else { return nil }
        for _ in 0..<settings.confirmations {
            let again = link.perform(targetCase)
            guard judge.fault(targetCase, again)?.fault == fault else { continue }
            return finding(fault, detail, [targetCase], isReproduced: true)
        }
        known.remove(key(fault, targetCase))
        unconfirmed += 1
        return nil
    }

    // MARK: Faults that show afterwards

    private mutating func diagnosed(_ first: TargetFault) -> TargetFinding? {
        let suspects = history
        history = []
        var fault = first
        // A restart needs no second opinion; silence does, for networks lose packets and devices have busy moments.
        if fault != .crash {
            for _ in 0..<settings.confirmations {
                link.pause(settings.retryPause)
                guard let now = ailment() else {
                    unconfirmed += 1
                    return nil
                }
                fault = now
            }
        }
        guard let latest = suspects.last else { return nil }
        let isNew = isNew(fault, latest)
        guard recover() else {
            isDown = true
            return finding(fault, fault.meaning, suspects.suffix(4), isReproduced: false)
        }
        // Out of order and back by itself is what a restart looks like from outside.
        if fault == .refusal { fault = .crash }
        guard isNew else { return nil }
        let result = SequenceSearch.find(suspects) { reproduces($0) }
        if let culprit = result.sequence.last { _ = self.isNew(fault, culprit) }
        isDown = !recover()
        return finding(fault, "\(fault.meaning) Found in \(result.tries) repetitions.", result.sequence, isReproduced: result.isReproduced)
    }

    /// Does the sequence to a device in good health and says whether it is ill afterwards; nil when there is no such device.
    private mutating func reproduces(_ sequence: [TargetCase]) -> Bool? {
        guard recover() else { return nil }
        for targetCase in sequence {
            _ = link.perform(targetCase)
            if ailment() != nil { return true }
        }
        return false
    }

    /// Waits until the device is well; false when it doesn't become so.
    private mutating func recover() -> Bool {
        let deadline = link.now + settings.recovery
        while link.now < deadline {
            judge.forgetBoot()
            if ailment() == nil { return true }
            link.pause(settings.retryPause)
        }
        return false
    }

    // MARK: Slowing down

    /// Often enough that a leak of a few milliseconds stands out, few enough that the device lives through all suspects.
    private static var repetitions: Int { 4 }

    /// Finds the kind of case that costs the device most, by doing one of each several times.
    private mutating func blamed(_ growth: (before: Duration, now: Duration)) -> TargetFinding? {
        var worst: (targetCase: TargetCase, growth: Duration)?
        var tried: Set<String> = []
        var before = answerTime()
        for suspect in history.reversed() where tried.insert(suspect.kind).inserted && tried.count <= 12 {
            let after = answerTime(behind: suspect)
            if after - before > worst?.growth ?? .zero { worst = (suspect, after - before) }
            before = after
        }
        // On a busy machine everything is slow now and then: the same case must cost as much a second time.
        if let first = worst, answerTime(behind: first.targetCase) - before < first.growth.scaled(by: 0.5) {
            worst = nil
        }
        guard let worst else {
            unconfirmed += 1
            latency.dismiss()
            return nil
        }
        // From here on the device is as slow as it was made; only what makes it slower still is news.
        latency = LatencyWatch()
        guard isNew(.slowing, worst.targetCase) else { return nil }
        return finding(
            .slowing,
            "A hello took \(growth.before.briefText) at first and takes \(growth.now.briefText) now; this case, done \(TargetCampaign.repetitions) times, made it "
                + "\(worst.growth.briefText) slower.", [worst.targetCase], isReproduced: true)
    }

    /// What an answer takes after this case was done several times.
    private mutating func answerTime(behind suspect: TargetCase) -> Duration {
        for _ in 0..<TargetCampaign.repetitions { _ = link.perform(suspect) }
        return answerTime()
    }

    /// The middle one of three answers' times.
    private mutating func answerTime() -> Duration {
        let times = (0..<3).map { _ in link.perform(healthCheck).helloTime ?? settings.recovery }
        return times.sorted()[1]
    }

    private func key(_ fault: TargetFault, _ targetCase: TargetCase) -> String { "\(fault.rawValue) \(targetCase.kind)" }

    private mutating func isNew(_ fault: TargetFault, _ targetCase: TargetCase) -> Bool {
        known.insert(key(fault, targetCase)).inserted
    }

    private func finding(
        _ fault: TargetFault, _ detail: String, _ sequence: some Collection<TargetCase>, isReproduced: Bool
    ) -> TargetFinding {
        TargetFinding(
            fault: fault, detail: detail, sequence: Array(sequence), isReproduced: isReproduced, isDown: isDown, seed: generator.seed,
            index: index)
    }
}
