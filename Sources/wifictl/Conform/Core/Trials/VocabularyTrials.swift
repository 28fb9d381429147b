import FrameCodec
import SocketCore

/// The sample vocabulary; a router that brings its own bodies is let off.
extension ConformTrial {
    static let vocabulary = [capabilities, questions, setting]

    static let capabilitiesRequest = "{\"op\":\"capabilities\"}"

    /// The answer to the request with that id, among the messages of a connection.
    static func answer(to id: Int64, _ line: ConformLine, _ layout: FrameLayout) -> JSONValue? {
        line.afterHello(layout).compactMap(\.json).first { $0["re"]?.integerValue == id }
    }

    private static let capabilities = ConformTrial(rules: [ConformRule.vocabularyCapabilities], obstacle: needsHello) { subject, bytes in
        opened(subject, bytes.hello(bytes.session())) + [
            .send(0, bytes.frame(1, capabilitiesRequest)), .listen([0], .answers([1]), atMost: subject.patience), .receiptAll(0),
        ]
    } judge: { transcript, subject in
        guard let answer = answer(to: 1, transcript.line(0), subject.layout) else {
            return [.skipped("no answer: it brings its own bodies, or doesn't speak the sample vocabulary")]
        }
        guard let value = answer["value"], answer["ok"]?.boolValue == true, let properties = value["properties"]?.arrayValue,
            value["ops"]?.arrayValue != nil
        else { return [.fail("the answer lacks ok, value, ops or properties")] }
        var vocabulary = ConformSubject.Vocabulary()
        for property in properties {
            guard let name = property["name"]?.stringValue, let access = property["access"]?.arrayValue else {
                return [.fail("a property has no name or no access")]
            }
            vocabulary.properties.append((name, access.contains("read"), access.contains("write")))
        }
        vocabulary.streams = (value["streams"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        subject.vocabulary = vocabulary
        return [.pass("\(vocabulary.properties.count) properties, \(vocabulary.streams.count) streams")]
    }

    private static func request(_ members: KeyValuePairs<String, JSONValue>) -> [UInt8] {
        JSONValue.object(members.map { .init($0.key, $0.value) }).encoded()
    }

    private static let questions = ConformTrial(
        rules: [
            ConformRule.vocabularyGet, ConformRule.vocabularySubscribe, ConformRule.vocabularyRead, ConformRule.vocabularyUnknown,
            ConformRule.vocabularyOpaque,
        ], obstacle: needsVocabulary
    ) { subject, bytes in
        let names = JSONValue.array((subject.vocabulary?.properties ?? []).filter(\.isReadable).map { .string($0.name) })
        let stream = JSONValue.text(subject.vocabulary?.streams.first)
        let requests = [
            request(["op": "get", "names": names]), request(["op": "subscribe", "names": names]),
            request(["op": "read", "stream": stream, "offset": 0, "count": 16]),
            request(["op": "read", "stream": stream, "offset": 8, "count": 16]), request(["op": "no-such-operation"]), Array("[1".utf8),
        ]
        var steps = opened(subject, bytes.hello(bytes.session()))
        for (id, request) in zip(UInt32(1)..., requests) { steps.append(.send(0, bytes.frame(id, request))) }
        steps += [.listen([0], .answers([1, 2, 3, 4, 5]), atMost: subject.patience), .receiptAll(0)]
        return steps + [.send(0, bytes.frame(7, "[]")), .listen([0], .receipts([1, 2, 3, 4, 5, 6, 7]), atMost: subject.patience)]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        let layout = subject.layout
        for member in answer(to: 1, line, layout)?["value"]?.objectValue ?? [] { subject.values[member.name] = member.value }
        let noName = ConformFinding.skipped("it has no property that can be read")
        func values(_ id: Int64, _ op: String) -> ConformFinding {
            guard let name = subject.readable else { return noName }
            let answer = answer(to: id, line, layout)
            return answer?["ok"]?.boolValue == true && answer?["value"]?[name] != nil ? .pass() : .fail("\(op) \(name) has no value")
        }
        let unknown = answer(to: 5, line, layout)
        let isRefused = unknown?["ok"]?.boolValue == false && unknown?["error"]?["code"]?.stringValue == "unknownOp"
        let isOpaque = line.receipts(layout).contains(6) && line.ended == nil && answer(to: 6, line, layout) == nil
        return [
            values(1, "get"), values(2, "subscribe"), pieces(answer(to: 3, line, layout), answer(to: 4, line, layout), subject),
            isRefused ? .pass() : .fail("no error unknownOp came"),
            isOpaque ? .pass() : .fail("a body that is no JSON object gets no receipt, gets an answer, or ends the connection"),
        ]
    }

    /// Sixteen bytes from 0 and from 8: the second half of one is the first half of the other.
    private static func pieces(_ first: JSONValue?, _ second: JSONValue?, _ subject: ConformSubject) -> ConformFinding {
        guard let stream = subject.vocabulary?.streams.first else { return .skipped("it has no stream") }
        guard let first = first?["value"], let second = second?["value"], let total = first["total"]?.integerValue else {
            return .fail("no piece of \(stream) came, or none with a total")
        }
        // Base64 of 16 bytes: a cut at byte 8 lies within a group of four digits, at byte 9 between two.
        guard let head = first["data"]?.stringValue, let tail = second["data"]?.stringValue else { return .fail("a piece has no data") }
        if first["offset"]?.integerValue != 0 || second["offset"]?.integerValue != min(8, total) {
            return .fail("a piece has another offset than was asked for")
        }
        guard total >= 24 else { return .pass("\(total) bytes in all") }
        let decoded = (ConformFacts.base64(head), ConformFacts.base64(tail))
        guard let left = decoded.0, let right = decoded.1, left.count == 16, right.count == 16 else {
            return .fail("data isn't base64 of the 16 bytes asked for")
        }
        return left.suffix(8) == right.prefix(8) ? .pass("\(total) bytes in all") : .fail("the same bytes differ in two pieces")
    }

    /// Sets a property to the value that it has.
    private static let setting = ConformTrial(
        rules: [ConformRule.vocabularySet],
        obstacle: {
            if let missing = needsVocabulary($0) { return missing }
            return $0.writable == nil ? "it has no property that can be written" : nil
        }
    ) { subject, bytes in
        let name = subject.writable ?? ""
        let value = subject.values[name] ?? .null
        return opened(subject, bytes.hello(bytes.session())) + [
            .send(0, bytes.frame(1, request(["op": "set", "values": .object([.init(name, value)])]))),
            .listen([0], .answers([1]), atMost: subject.patience), .receiptAll(0),
            .send(0, bytes.frame(2, request(["op": "get", "names": [.string(name)]]))),
            .listen([0], .answers([2]), atMost: subject.patience), .receiptAll(0),
        ]
    } judge: { transcript, subject in
        let line = transcript.line(0)
        guard let set = answer(to: 1, line, subject.layout), set["ok"]?.boolValue == true, let value = set["value"] else {
            return [.fail("set isn't answered with the values")]
        }
        let shown = answer(to: 2, line, subject.layout)?["value"]
        return [shown == value ? .pass() : .fail("get shows another value than was set")]
    }
}

extension ConformFacts {
    /// RFC 4648, section 4; nil for what isn't that.
    static func base64(_ text: String) -> [UInt8]? {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        let bytes = Array(text.utf8)
        guard bytes.count % 4 == 0 else { return nil }
        let padding = bytes.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        var (bits, count, decoded) = (0, 0, [UInt8]())
        for byte in bytes.dropLast(padding) {
            guard let digit = digits.firstIndex(of: byte) else { return nil }
            (bits, count) = (bits << 6 | digit, count + 6)
            if count >= 8 {
                count -= 8
                decoded.append(UInt8(truncatingIfNeeded: bits >> count))
                bits &= (1 << count) - 1
            }
        }
        return padding <= 2 ? decoded : nil
    }
}
