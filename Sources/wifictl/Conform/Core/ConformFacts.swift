import FrameCodec
import SocketCore

/// What single objects and datagrams must look like.
enum ConformFacts {
    /// Six pairs of lower-case hex digits with colons between, and a device's.
    static func isMAC(_ text: String?) -> Bool {
        guard let octets = text?.split(separator: ":", omittingEmptySubsequences: false), octets.count == 6,
            octets.allSatisfy({ isHex(String($0), digits: 2) }), let first = UInt8(octets[0], radix: 16)
        else { return false }
        return first & 1 == 0 && !octets.allSatisfy { $0 == "00" }
    }

    static func isHex(_ text: String?, digits: Int) -> Bool {
        guard let text, text.utf8.count == digits else { return false }
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    private static func areVersions(_ value: JSONValue?) -> Bool {
        guard let versions = value?.arrayValue, !versions.isEmpty else { return false }
        return versions.allSatisfy { (1...65_535).contains($0.integerValue ?? 0) }
    }

    /// What is wrong with a reply's object; nil when nothing.
    static func complaint(aboutReply object: JSONValue) -> String? {
        let wrong = [
            ("nonce", isHex(object["nonce"]?.stringValue, digits: 16)), ("mac", isMAC(object["mac"]?.stringValue)),
            ("tcp", (1...65_535).contains(object["tcp"]?.integerValue ?? 0)), ("versions", areVersions(object["versions"])),
            ("boot", object["boot"] == nil || isHex(object["boot"]?.stringValue, digits: 16)),
            ("tls", object["tls"] == nil || object["tls"]?.boolValue != nil),
        ].filter { !$0.1 }.map(\.0)
        return wrong.isEmpty ? nil : "missing or not as it must be: \(wrong.joined(separator: ", "))"
    }

    /// What is wrong with a router's hello to that session; nil when nothing.
    static func complaint(aboutHello object: JSONValue, session: String) -> String? {
        let wrong = [
            ("session", object["session"]?.stringValue == session), ("boot", isHex(object["boot"]?.stringValue, digits: 16)),
            ("version", object["version"]?.integerValue == 1),
            ("received", (0...4_294_967_295).contains(object["received"]?.integerValue ?? -1)),
            ("resumed", object["resumed"]?.boolValue != nil), ("mac", isMAC(object["mac"]?.stringValue)),
        ].filter { !$0.1 }.map(\.0)
        return wrong.isEmpty ? nil : "missing or not as it must be: \(wrong.joined(separator: ", "))"
    }

    /// What is wrong with each of ``invalidProbes(_:)``.
    static let invalidKinds = [
        "is empty", "is shorter than a header", "says less than it holds", "says more than it holds", "has a byte too many",
        "has version 2", "has msgId 0", "has no JSON in it", "has no nonce", "has a nonce of 4 digits", "is random bytes",
    ]

    static func invalidProbes(_ bytes: inout ConformBytes) -> [[UInt8]] {
        let id = bytes.probeId()
        let frames = ConformBytes(layout: .standard, seed: 0)
        func probe(_ nonce: String) -> [UInt8] { ConformBytes.probe(id, ConformTrial.keys(nonce)) }
        let sound = probe(bytes.nonce())
        let body = Array(sound.dropFirst(FrameHeader.byteCount))
        return [
            [], Array(sound.prefix(7)), frames.header(id, declares: body.count - 20) + body,
            frames.header(id, declares: body.count + 20) + body, probe(bytes.nonce()) + [0], frames.frame(id, body, version: 2),
            frames.frame(0, body), frames.frame(id, String(repeating: "x", count: 390)),
            ConformBytes.probe(id, [("maxWait", 0)]), probe("c0de"), (0..<400).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 91) },
        ]
    }
}
