import FrameCodec
import SocketCore
import Testing

@testable import wifictl

/// A device that isn't there: it answers as told, in time that only passes when the campaign says so.
private struct ImaginaryDevice: TargetLink {
    /// What the device does with a case; it may break.
    var handle: (TargetCase, inout State) -> Void
    var state = State()
    var now = Instant.zero

    struct State {
        var boot = 0
        var isHung = false
        var outUntil = Instant.zero
        var helloTime = Duration.milliseconds(2)
        var receipts: [UInt32]?
        var ending = TargetOutcome.Ending.open
        var memory = 0
        var now = Instant.zero
    }

    mutating func pause(_ span: Duration) { now = now + max(.zero, span) }

    mutating func perform(_ targetCase: TargetCase) -> TargetOutcome {
        now = now + .milliseconds(1)
        state.now = now
        var outcome = TargetOutcome()
        if state.outUntil > now {
            outcome.connectFailure = "refused"
            return outcome
        }
        outcome.helloMissing = state.isHung
        outcome.helloTime = state.isHung ? nil : state.helloTime
        outcome.boot = "\(state.boot)"
        if case .receipts(let ids) = targetCase.expectation { state.receipts = ids } else { state.receipts = [] }
        state.ending = .open
        if targetCase.kind != "health check" { handle(targetCase, &state) }
        outcome.ending = state.ending
        for id in state.receipts ?? [] {
            HeaderWriter.append(msgId: id, version: 1, lengthField: 0, .standard, to: &outcome.received)
        }
        return outcome
    }
}

@Suite struct FuzzTargetCoreTests {
    private func campaign(_ handle: @escaping (TargetCase, inout ImaginaryDevice.State) -> Void) -> TargetCampaign<ImaginaryDevice> {
        TargetCampaign(
            link: ImaginaryDevice(handle: handle), generator: TargetGenerator(seed: 11, layout: .standard, limit: 1 << 20, isPlain: false))
    }

    private func findings(_ steps: Int, _ handle: @escaping (TargetCase, inout ImaginaryDevice.State) -> Void) -> [TargetFinding] {
        var campaign = campaign(handle)
        var found: [TargetFinding] = []
        for _ in 0..<steps where !campaign.isDown { if let finding = campaign.step() { found.append(finding) } }
        return found
    }

    @Test func `a healthy device is not accused`() {
        #expect(findings(500) { _, _ in }.isEmpty)
    }

    @Test func `a restart is seen by the boot id and traced to its one case`() {
        let found = findings(200) { targetCase, state in if targetCase.kind.hasPrefix("a frame cut off in its body") { state.boot += 1 } }
        #expect(found.first?.fault == .crash && found.first?.isReproduced == true)
        #expect(found.allSatisfy { $0.sequence.count == 1 && $0.sequence[0].kind.hasPrefix("a frame cut off in its body") })
    }

    @Test func `a device that is out for a while has crashed`() {
        let found = findings(200) { targetCase, state in
            if targetCase.kind.hasPrefix("hello: ") { state.outUntil = state.now + .seconds(3) }
        }
        #expect(found.first?.fault == .crash)
    }

    @Test func `a device that stays away is reported with the last cases and ends the campaign`() {
        let found = findings(300) { targetCase, state in if targetCase.kind.hasPrefix("damaged") { state.outUntil = .distantFuture } }
        #expect(found.count == 1)
        #expect(found[0].fault == .refusal && found[0].isDown && !found[0].isReproduced)
        #expect(found[0].sequence.last?.kind == "damaged frames")
    }

    @Test func `silence is a hang`() {
        let found = findings(300) { targetCase, state in if targetCase.kind.hasPrefix("another protocol") { state.isHung = true } }
        #expect(found.map(\.fault) == [.hang])
    }

    @Test func `a fault that needs two cases is found as a sequence of two`() {
        let found = findings(400) { targetCase, state in
            if targetCase.kind == "one message three times" { state.memory = 1 }
            if targetCase.kind == "a message byte by byte", state.memory == 1 {
                state.memory = 0
                state.boot += 1
            }
        }
        #expect(found.first?.fault == .crash)
        #expect(found.first?.sequence.map(\.kind) == ["one message three times", "a message byte by byte"])
    }

    @Test func `wrong, missing and undeserved receipts are told apart`() {
        let wrong = findings(100) { _, state in state.receipts = state.receipts?.map { $0 &+ 77_777 } }
        #expect(wrong.contains { $0.fault == .wrongReceipt })
        let lost = findings(100) { _, state in state.receipts = [] }
        #expect(lost.contains { $0.fault == .lostReceipt } && !lost.contains { $0.fault == .wrongReceipt })
        let closed = findings(100) { _, state in (state.receipts, state.ending) = ([], .closed) }
        #expect(closed.contains { $0.fault == .closedOnGood })
        let lenient = findings(100) { targetCase, state in if case .rejection(let id) = targetCase.expectation { state.receipts = [id] } }
        #expect(lenient.contains { $0.fault == .acceptsMalformed })
    }

    @Test func `one odd answer is not a finding`() {
        var isFirst = true
        var campaign = campaign { targetCase, state in
            guard case .receipts = targetCase.expectation, isFirst else { return }
            isFirst = false
            state.receipts = []
        }
        for _ in 0..<100 { #expect(campaign.step() == nil) }
        #expect(campaign.unconfirmed == 1)
    }

    @Test func `growing answer times are traced to the kind of case that costs`() {
        let found = findings(600) { targetCase, state in
            if targetCase.kind.hasPrefix("connections that declare") { state.helloTime += .milliseconds(4) }
        }
        #expect(found.first?.fault == .slowing)
        #expect(found.first?.sequence[0].kind.hasPrefix("connections that declare") == true)
    }

    @Test func `a slow network is no finding, and a leak behind it is one`() {
        var cases = 0
        func device(_ targetCase: TargetCase, _ state: inout ImaginaryDevice.State) {
            cases += 1
            if cases == 60 { state.helloTime = .milliseconds(150) }
            if cases > 300, targetCase.kind.hasPrefix("connections that declare") { state.helloTime += .milliseconds(16) }
        }
        var campaign = campaign(device)
        for _ in 0..<200 { #expect(campaign.step() == nil) }
        #expect(campaign.unconfirmed == 1, "asked about once, and again only when slower still")
        var found: TargetFinding?
        for _ in 0..<600 where found == nil { found = campaign.step() }
        #expect(found?.fault == .slowing)
        #expect(found?.sequence[0].kind.hasPrefix("connections that declare") == true)
    }

    @Test func `cases survive their file`() {
        let generator = TargetGenerator(seed: 3, layout: .standard, limit: 4_096, isPlain: false)
        for index in UInt64(0)..<200 {
            let targetCase = generator.make(index)
            #expect(TargetCase(targetCase.json) == targetCase)
        }
    }

    @Test(arguments: FrameLayout.allCases, [true, false])
    func `cases say rightly what is due`(layout: FrameLayout, isPlain: Bool) {
        let generator = TargetGenerator(seed: 4, layout: layout, limit: 4_096, isPlain: isPlain)
        var kinds: Set<String> = []
        for index in UInt64(0)..<1_000 {
            let targetCase = generator.make(index)
            kinds.insert(targetCase.kind)
            let answer = ReferenceDecoder(layout: layout, limit: 4_096, versions: isPlain ? 1...65_535 : 1...1)
                .answer(to: targetCase.writes.flatMap(\.self), ended: false)
            switch targetCase.expectation {
            case .survive: break
            case .receipts(let ids):
                #expect(answer.error == nil && Set(ids).isSubset(of: answer.frames.map(\.msgId)), "\(targetCase.kind)")
            case .rejection(let id):
                #expect(answer.error != nil && !answer.frames.contains { $0.msgId == id }, "\(targetCase.kind)")
            }
            #expect(Set(answer.frames.filter { $0.msgId != 0 && !$0.body.isEmpty }.map(\.msgId)).isSubset(of: targetCase.sentIds + [1]))
        }
        #expect(kinds.count > 10)
    }

    @Test func `a report says what was sent, what happened and how to do it again`() {
        var sent: [UInt8] = []
        HeaderWriter.append(msgId: 7, version: 1, lengthField: 2, .standard, to: &sent)
        sent += Array("hi".utf8)
        HeaderWriter.append(msgId: 8, version: 1, lengthField: 0xFFFF_FFFF, .standard, to: &sent)
        let targetCase = TargetCase(kind: "a length", writes: [sent], expectation: .rejection(of: 9), sentIds: [7])
        let finding = TargetFinding(
            fault: .crash, detail: "boot changed", sequence: [targetCase], isReproduced: true, isDown: false, seed: 5, index: 6)
        let text = TargetReport(finding: finding, target: "192.0.2.1:1", layout: .standard, limit: 1 << 20).text(replayFile: "x.json")
        for part in [
            "# crash: 192.0.2.1:1", "boot changed", "wifictl fuzz --target 192.0.2.1:1 --replay x.json",
            "0000  00 00 00 07 00 01 00 00 00 02 68 69 00 00 00 08  ..........hi....", "at 0: msgId 7, version 1, length 2 (message)",
            "at 12: 000000080001ffffffff = a body of 4294967295 bytes is declared", "no receipt for 9",
        ] { #expect(text.contains(part), "\(part) in \(text)") }
    }

    @Test(arguments: [
        ("8.8.8.8:80", false), ("192.168.1.1:80", true), ("127.0.0.1:1", true), ("[fe80::1%2]:9", true), ("10.0.0.1:9", true),
    ])
    func `public addresses need a word`(text: String, isAllowed: Bool) throws {
        let endpoint = try #require(Endpoint(text))
        #expect(((try? TargetFuzz.check(endpoint, allowsPublic: false)) != nil) == isAllowed)
        #expect((try? TargetFuzz.check(endpoint, allowsPublic: true)) != nil)
    }
}
