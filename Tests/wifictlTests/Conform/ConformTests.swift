import Foundation
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// What `wifictl conform --json` printed.
private struct Findings {
    let status: Int32
    var results: [String: String] = [:]
    var failed: Set<String> { Set(results.filter { $0.value == "fail" }.keys) }

    init(_ result: CommandResult) throws {
        status = result.status
        try JSONContract.check(result.lines, "conform")
        let lines = try result.lines.map { try JSONValue.parse(Array($0.utf8)) }
        #expect(lines.last?["type"] == "summary", "\(result.errorText)")
        for line in lines where line["type"] == "rule" {
            results[try #require(line["id"]?.stringValue)] = try #require(line["result"]?.stringValue)
        }
    }
}

/// Rules whose answer depends on how fast router and tool are on a machine that runs other tests too.
private let rulesOfSpeed = ["receipt-prompt", "discovery-spread", "discovery-bssid"]

private func conform(_ tcp: some CustomStringConvertible, udp: some CustomStringConvertible, _ more: [String]) async throws -> Findings {
    try Findings(
        try await BuiltTool.run(
            ["conform", "127.0.0.1:\(tcp)", "--port", "\(udp)", "--patience", "10s", "--json"] + more, within: .seconds(240)))
}

private func only(_ rules: some Sequence<String>) -> [String] { rules.flatMap { ["--only", $0] } }

private let steadyRules = ConformRule.all.map(\.id).filter { !rulesOfSpeed.contains($0) }

/// A router of one's own in Python, which breaks one rule at a time.
struct ConformBrokenRouterTests {
    private func router(_ fault: String) async throws -> (child: ChildProcess, tcp: String, udp: String) {
        let child = try ChildProcess(["python3", Repository.path("Tests/Conform/router.py"), fault])
        let ports = try await child.line("ports", within: .seconds(60)).split(separator: " ").map(String.init)
        return (child, ports[0], ports[1])
    }

    @Test func `a small router written from the page alone passes`() async throws {
        let router = try await router("none")
        let found = try await conform(router.tcp, udp: router.udp, ["--quick", "--changes"] + only(steadyRules))
        #expect(found.status == 0 && found.failed.isEmpty, "\(found.failed)")
        #expect(found.results.values.count { $0 == "pass" } >= 45)
        withExtendedLifetime(router.child) {}
    }

    @Test(arguments: [
        ("one-frame-a-read", "frame-cuts"), ("any-version", "frame-version frame-nothing-after"),
        ("skips-bad-version", "frame-version frame-nothing-after"), ("waits-for-body", "frame-length"), ("small-limit", "frame-limit"),
        ("delivers-cut-off", "frame-end"), ("few-connections", "frame-claims"), ("no-boot", "hello-answer hello-identity"),
        ("other-mac", "hello-identity"), ("strict-keys", "hello-unknown-keys"), ("lenient-keys", "hello-keys"),
        ("long-hello", "hello-size"), ("any-first", "hello-first"), ("hello-with-id", "hello-first"), ("chooses-highest", "version-choice"),
        ("frames-of-version-2", "version-choice"), ("no-error-object", "version-none"), ("loses-third-receipt", "receipt"),
        ("slow-receipts", "receipt-prompt"), ("receipts-everything", "receipt-none"), ("closes-on-unknown-receipt", "receipt-unknown"),
        ("silent-duplicates", "duplicate-receipt"), ("delivers-twice", "duplicate-delivery duplicate-memory resume-duplicate"),
        ("short-memory", "duplicate-memory"), ("ids-from-100", "message-ids"), ("no-window", "window"),
        ("always-resumed", "session-new session-unknown"), ("counts-wrong", "session-new resume"), ("never-resumes", "resume"),
        ("forgets-unsettled", "resume-resend"), ("new-ids-on-resend", "resume-resend"), ("ignores-received", "resume-received"),
        ("keeps-both", "replaced"), ("no-versions", "discovery-reply"), ("wrong-nonce", "discovery-echo"),
        ("other-port", "discovery-source"), ("long-reply", "discovery-size"), ("amplifies", "discovery-amplification"),
        ("answers-twice", "discovery-once"), ("no-spread", "discovery-spread"), ("late", "discovery-spread"),
        ("ignores-bssid", "discovery-bssid"), ("ignores-known", "discovery-known"), ("ignores-mac", "discovery-mac"),
        ("lenient-datagrams", "discovery-garbage"), ("dies-of-garbage", "discovery-garbage"), ("no-rate", "discovery-rate"),
        ("no-radios", "discovery-radios"), ("no-properties", "vocabulary-capabilities"), ("get-empty", "vocabulary-get"),
        ("subscribe-empty", "vocabulary-subscribe"), ("sets-null", "vocabulary-set"), ("reads-from-start", "vocabulary-read"),
        ("other-error", "vocabulary-unknown"), ("closes-on-opaque", "vocabulary-opaque"),
    ])
    func `a router that breaks one rule fails that rule`(fault: String, expected: String) async throws {
        let rules = Set(expected.split(separator: " ").map(String.init))
        let router = try await router(fault)
        // The patience is what a router that goes on, where it should close, is waited for.
        let found = try Findings(
            try await BuiltTool.run(
                ["conform", "127.0.0.1:\(router.tcp)", "--port", router.udp, "--patience", "3s", "--quick", "--changes", "--json"]
                    + only(rules), within: .seconds(240)))
        #expect(found.failed == rules, "\(found.results)")
        #expect(found.status == (fault == "no-radios" ? 0 : 1), "a should is no must")
        withExtendedLifetime(router.child) {}
    }
}

/// Routers that aren't broken.
struct ConformTests {
    @Test(arguments: ["standard", "littleEndian", "asciiLength"])
    func `our own router passes in every layout`(layout: String) async throws {
        let port = try Loopback.freePort()
        let router = try await Loopback.router(port: port, ["--layout", layout, "--bssid", "02:00:5e:00:53:11"])
        let found = try await conform(router.tcp, udp: port, ["--layout", layout, "--quick", "--changes"] + only(steadyRules))
        #expect(found.status == 0 && found.failed.isEmpty, "\(found.failed)")
        #expect(found.results.values.count { $0 == "pass" } >= 44)
        withExtendedLifetime(router.child) {}
    }

    @Test func `our own router keeps its times, and comes back from a reboot`() async throws {
        let port = try Loopback.freePort()
        let router = try await Loopback.router(port: port)
        let rules = (ConformRule.time + [.helloTimeout, .reboot]).map(\.id)
        let found = try await conform(router.tcp, udp: port, ["--reboot"] + only(rules))
        #expect(found.results == Dictionary(rules.map { ($0, "pass") }) { $1 })
        withExtendedLifetime(router.child) {}
    }

    /// What it leaves out is known and true of it: it was made to be talked to, not to be a router.
    @Test(.enabled(if: WifiPeer.isThere, IndependentPeer.remark))
    func `the independent peer passes but for what it leaves out`() async throws {
        let port = try Loopback.freePort()
        let peer = try ChildProcess(
            try WifiPeer.words([
                "router", "--mac", "02:00:5e:00:53:09", "--port", "\(port)", "--tcp", "\(port)", "--bssid", "02:00:5e:00:53:19",
            ]))
        _ = try await peer.line("listening", within: .seconds(60)) { $0.contains("listening") }
        let found = try await conform(port, udp: port, ["--quick", "--changes"] + only(steadyRules))
        #expect(
            found.failed == [
                "discovery-amplification", "discovery-once", "discovery-garbage", "discovery-rate", "hello-keys", "hello-size", "window",
            ])
        withExtendedLifetime(peer) {}
    }

    @Test func `a router with TLS is asked over TLS, and must refuse strangers and hellos in the clear`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let tls = [
            "--identity", company.device.certificateFile, "--key", company.device.keyFile, "--client-root",
            company.operatorRoot.certificateFile,
        ]
        let router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01"] + tls)
        let found = try await conform(
            router.tcp, udp: port,
            ["--quick", "--root", company.deviceRoot.certificateFile, "--identity", company.operatorIdentity.certificateFile, "--key"]
                + [company.operatorIdentity.keyFile] + only(steadyRules))
        #expect(found.failed == ["discovery-radios"])
        for rule in ["tls-certificate", "tls-stranger", "tls-plaintext", "frame-end", "resume-resend"] {
            #expect(found.results[rule] == "pass", "\(rule)")
        }
        withExtendedLifetime(router.child) {}
    }

    @Test func `without an identity a router with TLS isn't blamed for what section 6 demands`() async throws {
        let company = try await TestCompany.shared
        let port = try Loopback.freePort()
        let tls = VerifyToolTests.words(company.device, company)
        let router = try await Loopback.router(port: port, ["--mac", "02:00:5e:00:53:01", "--tcp", "0"] + tls)
        let words = ["conform", "127.0.0.1:\(router.tcp)", "--port", "\(port)", "--quick", "--json"] + only(steadyRules)
        let result = try await BuiltTool.run(words, within: .seconds(240))
        let found = try Findings(result)
        #expect(found.failed.isDisjoint(with: ["hello-answer", "hello-identity"]) && found.results["hello-answer"] == "skipped")
        #expect(result.errorText.contains("--identity") && result.text.contains("give --identity and --key"), "\(result.errorText)")
        // Whoever hears no reply, and so doesn't know of TLS, is told by the bytes that come.
        let deaf = try await BuiltTool.run(
            ["conform", "127.0.0.1:\(router.tcp)", "--port", "\(try Loopback.freePort())", "--quick", "--only", "hello-answer"],
            within: .seconds(240))
        #expect(deaf.errorText.contains("it speaks TLS, and no reply to a probe was heard"), "\(deaf.errorText)")
        let fuzzed = try await BuiltTool.run(["fuzz", "--target", "127.0.0.1:\(router.tcp)", "--runs", "1"])
        #expect(fuzzed.status == 2 && fuzzed.errorText.contains("it speaks TLS, and fuzzing speaks in the clear"), "\(fuzzed.errorText)")
        withExtendedLifetime(router.child) {}
    }

    @Test func `a rule that isn't there is answered with the nearest, not with all of them`() async throws {
        let result = try await BuiltTool.run(["conform", "--only", "frame-cut"])
        #expect(result.status == 64 && result.errorText.contains("did you mean frame-cuts?") && result.errorText.contains("--list"))
        #expect(result.errorText.utf8.count < 200, "\(result.errorText)")
    }

    @Test func `nobody there is an error, a public address wrong usage`() async throws {
        #expect(try await BuiltTool.run(["conform", "127.0.0.1:1"]).status == 2)
        let result = try await BuiltTool.run(["conform", "8.8.8.8"])
        #expect(result.status == 64)
        #expect(result.errorText.contains("--allow-public"))
    }
}

/// The page and the tool say the same.
struct ConformDocumentTests {
    @Test func `the checklist in docs is the tool's, rule by rule`() throws {
        let page = try DocumentBlock.document("docs/protocol.md")
        let checklist = page[try #require(page.range(of: "## 8. Checklist")).upperBound...]
        var section = ""
        var listed: [String] = []
        for line in checklist.split(separator: "\n") {
            if line.hasPrefix("### ") { section = line.split(separator: " ").last.map { String($0.dropLast()) } ?? "" }
            if line.hasPrefix("- [ ] ") { listed.append("\(section) \(line.dropFirst(6))") }
        }
        #expect(listed == ConformRule.all.map { "\($0.section) `\($0.id)` \($0.line)" })
    }

    @Test func `ids are unique, and every rule that is asked has its trial`() {
        #expect(Set(ConformRule.all.map(\.id)).count == ConformRule.all.count)
        let asked = Set(ConformTrial.all.flatMap(\.rules))
        #expect(asked == Set(ConformRule.all.filter { $0.means != .byHand }))
    }
}
