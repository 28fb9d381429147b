import FrameCodec
import SocketCore

/// The opening of a session.
extension ConformTrial {
    static let opening = [hello, unknownKeys, choice, noVersion, badKeys, longHello, otherFirst]

    static func opened(_ subject: ConformSubject, _ hello: [UInt8], _ line: Int = 0) -> [ConformStep] {
        [.open(line), .send(line, hello), .listen([line], .frames(1), atMost: subject.patience)]
    }

    private static let fixedSession = "c0ffee00c0ffee00c0ffee00c0ffee00"

    private static let hello = ConformTrial(
        rules: [ConformRule.helloAnswer, ConformRule.helloIdentity, ConformRule.sessionUnknown]
    ) { subject, bytes in
        opened(subject, bytes.hello(fixedSession, resume: true))
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let (frames, error) = line.frames(subject.layout)
        guard let hello = line.hello(subject.layout), let first = frames.first else {
            if let reason = subject.lacksIdentity { return Array(repeating: .skipped(reason), count: 3) }
            let none = ConformFinding.skipped("no session could be opened")
            return [.fail(ConformFacts.silenceText(line, frames.count, error)), none, none]
        }
        subject.hello = hello
        if let asked = line.sent.first { subject.roundTrip = first.at - asked }
        let complaint =
            first.frame.msgId != 0
            ? "its msgId is \(first.frame.msgId), not 0"
            : first.frame.body.count > 4_096 ? "it has \(first.frame.body.count) bytes, 4,096 are allowed" : nil
        let same = subject.reply.map { reply in
            ["mac", "boot"].filter { reply[$0] != nil && reply[$0] != hello[$0] }.map {
                "\($0) is \(hello[$0]?.stringValue ?? "missing") in the hello and \(reply[$0]?.stringValue ?? "") in the reply"
            }
        }
        return [
            .complaint(complaint ?? ConformFacts.complaint(aboutHello: hello, session: fixedSession)),
            same.map { .complaint($0.first) } ?? .skipped("no reply to a probe has come"),
            hello["resumed"]?.boolValue == true ? .fail("resumed is true for a session that never was") : .pass(),
        ]
    }

    private static let unknownKeys = ConformTrial(rules: [ConformRule.helloUnknownKeys], obstacle: needsHello) { subject, bytes in
        let more: [(String, JSONValue)] = [("future", ["deep": [1, 2, nil]]), ("station", "02:00:5e:00:53:77")]
        return opened(subject, bytes.hello(more + ConformBytes.keys(bytes.session())))
    } judge: { transcript, subject in
        [transcript.line(0).hello(subject.layout) == nil ? .fail("no hello came back") : .pass()]
    }

    /// Offers a version from the future beside the present one.
    private static let choice = ConformTrial(rules: [ConformRule.versionChoice], obstacle: needsHello) { subject, bytes in
        var keys = ConformBytes.keys(bytes.session())
        keys[1].1 = [1, 60_000]
        return opened(subject, bytes.hello(keys))
            + [.send(0, bytes.frame(1, "conform")), .listen([0], .receipts([1]), atMost: subject.patience)]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        guard let version = line.hello(subject.layout)?["version"]?.integerValue else { return [.fail("no hello came back")] }
        guard version == 1 || version == 60_000 else { return [.fail("it chose version \(version), which wasn't offered")] }
        let others = line.afterHello(subject.layout).filter { Int64($0.frame.version) != version }
        return [.complaint(others.first.map { "a frame has version \($0.frame.version) where \(version) was agreed" })]
    }

    private static let noVersion = ConformTrial(rules: [ConformRule.versionNone], obstacle: needsHello) { subject, bytes in
        var keys = ConformBytes.keys(bytes.session())
        keys[1].1 = [60_001]
        return [.open(0), .send(0, bytes.hello(keys)), .listen([0], .ended, atMost: subject.patience)]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let frames = line.frames(subject.layout).frames
        guard let first = frames.first else { return [.fail("it says nothing\(line.ended == nil ? " and goes on" : " and closes")")] }
        guard let error = first.json?["error"], error["code"]?.stringValue == "version", error["versions"]?.arrayValue != nil else {
            return [.fail("instead of the error object came \(String(decoding: first.frame.body.prefix(80), as: UTF8.self))")]
        }
        if first.frame.msgId != 0 { return [.fail("the error's msgId is \(first.frame.msgId), not 0")] }
        return [line.ended == nil ? .fail("it doesn't close") : .pass()]
    }

    /// Hellos that lack something, by what they lack.
    private static func badHellos(_ bytes: inout ConformBytes) -> [(name: String, bytes: [UInt8])] {
        let keys = ConformBytes.keys(bytes.session())
        func changed(_ key: String, _ value: JSONValue?) -> [UInt8] {
            bytes.hello(keys.compactMap { $0.0 == key ? value.map { (key, $0) } : $0 })
        }
        return [
            ("without session", changed("session", nil)), ("without versions", changed("versions", nil)),
            ("without received", changed("received", nil)), ("without resume", changed("resume", nil)),
            ("with a session of 4 digits", changed("session", "c0de")), ("with versions that are no list", changed("versions", 1)),
            ("with received as text", changed("received", "0")), ("with resume as a number", changed("resume", 0)),
            ("that is no JSON", bytes.frame(0, "hello")),
        ]
    }

    private static let badKeys = ConformTrial(rules: [ConformRule.helloKeys], obstacle: needsHello) { subject, bytes in
        let hellos = badHellos(&bytes)
        return hellos.indices.flatMap { [.open($0), .send($0, hellos[$0].bytes)] as [ConformStep] }
            + [.listen(Array(hellos.indices), .ended, atMost: subject.patience)]
    } judge: { transcript, subject in
        var bytes = ConformBytes(layout: subject.layout, seed: 0)
        let names = badHellos(&bytes).map(\.name)
        let taken = names.indices.filter { transcript.line($0).hello(subject.layout) != nil }.map { names[$0] }
        if !taken.isEmpty { return [.fail("it takes a hello \(taken.joined(separator: ", "))")] }
        let open = names.indices.filter { transcript.line($0).ended == nil }.map { names[$0] }
        return [open.isEmpty ? .pass() : .fail("it doesn't close after a hello \(open.joined(separator: ", "))")]
    }

    private static let longHello = ConformTrial(
        rules: [ConformRule.helloSize],
        obstacle: { needsHello($0) ?? ($0.largestBody < 5_000 ? "no frame of that size fits the layout and limit" : nil) }
    ) { subject, bytes in
        let keys = ConformBytes.keys(bytes.session()) + [("pad", .string(String(repeating: ".", count: 4_096)))]
        return [.open(0), .send(0, bytes.hello(keys)), .listen([0], .ended, atMost: subject.patience)]
    } judge: { transcript, subject in
        [ended(transcript.line(0), subject, "a hello of over 4,096 bytes")]
    }

    private static let otherFirst = ConformTrial(rules: [ConformRule.helloFirst], obstacle: needsHello) { subject, bytes in
        [
            .open(0), .send(0, bytes.frame(1, "conform")), .open(1), .send(1, bytes.frame(0)), .open(2),
            .send(2, bytes.hello(ConformBytes.keys(bytes.session()), msgId: 5)), .listen([0, 1, 2], .ended, atMost: subject.patience),
        ]
    } judge: { transcript, subject in
        let findings = zip(0..., ["a message as the first frame", "a heartbeat as the first frame", "a hello with an id"]).map {
            ended(transcript.line($0.0), subject, $0.1)
        }
        return [findings.first { $0 != .pass() } ?? .pass()]
    }

    /// The connection is over, and nothing was said on it.
    private static func ended(_ line: ConformLine, _ subject: ConformSubject, _ what: String) -> ConformFinding {
        if line.frames(subject.layout).frames.contains(where: { $0.json?["hello"] != nil || $0.isReceipt }) {
            return .fail("it takes \(what)")
        }
        return line.ended == nil ? .fail("it doesn't close after \(what)") : .pass()
    }
}

extension ConformFacts {
    /// What came instead of a hello.
    static func silenceText(_ line: ConformLine, _ frames: Int, _ error: FrameError?) -> String {
        if let refusal = line.refusal { return refusal }
        if TLSSpeech.begins(line.bytes.flatMap(\.byte)) {
            return "it speaks TLS, which its reply to a probe has to say"
        }
        if let error { return "what came is no frame: \(error) (see --layout)" }
        if frames > 0 { return "its first frame is no hello" }
        return line.ending.map { "it ended the connection: \($0)" } ?? "nothing came"
    }
}
