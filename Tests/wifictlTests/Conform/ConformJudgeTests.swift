import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// The judgement of what would take half a minute, on connections that never were.
struct ConformJudgeTests {
    private let bytes = ConformBytes(layout: .standard, seed: 1)

    private func at(_ seconds: Double) -> Instant { Instant.zero + .milliseconds(Int(seconds * 1_000)) }

    /// What a router does on the four connections of the trial about time.
    private struct Router {
        var helloTimeout = 5.0
        var heartbeat: Double? = 15.0
        var death: Double? = 30.0
        var resend: Double? = 6.0
        var isSameCopy = true
        var patience: Double?
    }

    private func judged(_ router: Router) throws -> [String: ConformFinding] {
        var transcript = ConformTranscript()
        func note(_ line: Int, _ seconds: Double?, _ what: ConformTranscript.What) {
            if let seconds { transcript.events.append(.init(number: line, at: at(seconds), what: what)) }
        }
        note(0, 0, .opened)
        note(0, router.helloTimeout, .ended("closed"))
        for line in 1...3 {
            note(line, 0, .opened)
            note(line, 0, .sent([1]))
            note(line, 0, .received(bytes.frame(0, "{\"hello\":{}}")))
        }
        note(2, 0, .received(bytes.frame(1, "{\"re\":1}")))
        note(2, router.resend, .received(bytes.frame(1, router.isSameCopy ? "{\"re\":1}" : "{\"re\":2}")))
        for line in [1, 3] { note(line, router.heartbeat, .received(bytes.frame(0))) }
        note(1, router.death, .ended("closed"))
        note(3, router.patience, .ended("closed"))
        let trial = try #require(ConformTrial.all.first { $0.rules.contains(.heartbeat) })
        var subject = ConformSubject()
        subject.vocabulary = ConformSubject.Vocabulary()
        return Dictionary(zip(trial.rules.map(\.id), trial.judge(transcript, &subject))) { $1 }
    }

    private func failed(_ router: Router) throws -> [String] {
        try judged(router).filter { $0.value.word == "fail" }.map(\.key).sorted()
    }

    /// The finding of a trial with eight probes about replies that came after so many milliseconds.
    private func judged(_ rule: ConformRule, _ delays: [Int]) throws -> String {
        let trial = try #require(ConformTrial.all.first { $0.rules == [rule] })
        var subject = ConformSubject()
        subject.reply = ["mac": "02:00:5e:00:53:01"]
        var transcript = ConformTranscript()
        for socket in 0..<8 { transcript.events.append(.init(number: socket, at: at(1), what: .probed([]))) }
        for (socket, delay) in delays.enumerated() {
            let reply = bytes.frame(7, #"{"reply":{"mac":"02:00:5e:00:53:01"}}"#)
            let what = ConformTranscript.What.datagram(reply, from: subject.discoveryEndpoint)
            transcript.events.append(.init(number: socket, at: at(1) + .milliseconds(delay), what: what))
        }
        return trial.judge(transcript, &subject)[0].word
    }

    @Test(arguments: [
        // At once, seen by a tool that others kept from running for 130 ms between the fourth and the fifth.
        ([0, 0, 1, 1, 131, 131, 132, 132], "fail"), ([400, 400, 420, 430, 440, 450, 460, 470], "fail"),
        ([100, 260, 700, 800, 1_250, 1_500, 1_900, 1_950], "pass"), ([100, 260, 700, 800, 1_250, 1_500, 1_900, 2_600], "fail"),
        ([0, 0, 0, 0], "fail"), ([0, 80, 90, 100], "pass"), ([5, 6, 7], "skipped"),
    ])
    func `replies that come together are no spread, however busy the machine`(delays: [Int], expected: String) throws {
        #expect(try judged(.discoverySpread, delays) == expected)
    }

    @Test func `who answers its own BSSID's probes at once may lose one of eight to a busy machine`() throws {
        #expect(try judged(.discoveryBSSID, [1, 1, 2, 3, 90, 95, 100, 900]) == "pass")
        #expect(try judged(.discoveryBSSID, [1, 1, 2, 3, 90, 95, 600, 900]) == "fail")
        #expect(try judged(.discoveryBSSID, [1, 1, 2, 3, 90]) == "skipped")
    }

    @Test func `who keeps the times passes`() throws {
        #expect(try judged(Router()).values.allSatisfy { $0.word == "pass" })
    }

    @Test func `each time that isn't kept is that rule's failure`() throws {
        #expect(try failed(Router(helloTimeout: 1)) == ["hello-timeout"])
        #expect(try failed(Router(helloTimeout: 20)) == ["hello-timeout"])
        #expect(try failed(Router(heartbeat: nil)) == ["heartbeat"])
        #expect(try failed(Router(heartbeat: 25)) == ["heartbeat"])
        #expect(try failed(Router(death: nil)) == ["dead-peer"])
        #expect(try failed(Router(death: 12)) == ["dead-peer"])
        #expect(try failed(Router(resend: nil)) == ["resend"])
        #expect(try failed(Router(resend: 2)) == ["resend"])
        #expect(try failed(Router(isSameCopy: false)) == ["resend"])
        #expect(try failed(Router(patience: 33)) == ["alive"])
    }

    /// A router that isn't there: no connection and no datagram.
    private struct Nobody: ConformLink {
        var isBrokenOff = false

        func perform(_ script: [ConformStep], _ subject: ConformSubject) -> ConformTranscript { ConformTranscript() }
    }

    @Test func `of a router that says nothing only the first answers are missed, and all else is skipped`() {
        var campaign = ConformCampaign(link: Nobody(), subject: ConformSubject(), seed: 5)
        var found: [String: ConformFinding] = [:]
        for trial in campaign.trials { for (rule, finding) in campaign.perform(trial) { found[rule.id] = finding } }
        for (rule, finding) in campaign.unasked { found[rule.id] = finding }
        #expect(Set(found.keys) == Set(ConformRule.all.map(\.id)))
        #expect(found.filter { $0.value.word == "fail" }.keys.sorted() == ["discovery-reply", "hello-answer"])
        #expect(!found.values.contains { $0.word == "pass" })
    }

    @Test func `a trial that was broken off says nothing about the router`() {
        var campaign = ConformCampaign(link: Nobody(isBrokenOff: true), subject: ConformSubject(), seed: 5)
        for trial in campaign.trials where trial.rules.contains(.discoveryReply) || trial.rules.contains(.helloAnswer) {
            #expect(campaign.perform(trial).isEmpty)
        }
        #expect(campaign.findings.isEmpty)
    }

    @Test func `a reply that names another port is told as that, in all rules that rest on it`() throws {
        let trial = try #require(ConformTrial.all.first { $0.rules.contains(.discoveryReply) })
        var subject = ConformSubject()
        var transcript = ConformTranscript()
        let reply = bytes.frame(7, #"{"reply":{"mac":"02:00:5e:00:53:01","tcp":7}}"#)
        transcript.events.append(.init(number: 0, at: at(1), what: .datagram(reply, from: subject.discoveryEndpoint)))
        let findings = trial.judge(transcript, &subject)
        #expect(findings[0] == .fail("the reply names TCP port 7, not 19510"))
        let reason = "the reply names TCP port 7, not 19510: it's taken for another router's"
        #expect(findings.dropFirst().allSatisfy { $0 == .skipped(reason) } && ConformTrial.needsReply(subject) == reason)
    }

    @Test func `a probe of ours is as long as it must be, and read by the parser`() throws {
        for least in [0, 100, 400] {
            let probe = ConformBytes.probe(7, ConformTrial.keys("0011223344556677"), least: least)
            #expect(probe.count >= least && probe.count < max(least, 100) + 12)
        }
    }

    @Test func `base64 is read as RFC 4648 has it`() {
        #expect(ConformFacts.base64("Ym9vdA==") == Array("boot".utf8))
        #expect(ConformFacts.base64("AAEC") == [0, 1, 2])
        #expect(ConformFacts.base64("AAE") == nil && ConformFacts.base64("A-==") == nil)
    }
}
