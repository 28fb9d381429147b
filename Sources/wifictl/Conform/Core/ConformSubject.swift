import FrameCodec
import SocketCore

/// The router under test: what the user said of it, and what it has told so far.
struct ConformSubject: Sendable {
    /// What a router answered to `capabilities`.
    struct Vocabulary: Equatable, Sendable {
        var properties: [(name: String, isReadable: Bool, isWritable: Bool)] = []
        var streams: [String] = []

        static func == (left: Vocabulary, right: Vocabulary) -> Bool {
            left.streams == right.streams && left.properties.map(\.name) == right.properties.map(\.name)
        }
    }

    var layout = FrameLayout.standard
    /// The largest body it takes, in bytes.
    var limit = 1_048_576
    var tcp: UInt16 = 19_510
    /// How long an answer may take.
    var patience = Duration.seconds(3)
    /// How long to listen for what must not come.
    var silence = Duration.milliseconds(600)
    /// Whether rules that take long are asked too.
    var isPatient = true
    /// The rules that are asked for: a trial needn't wait longer than these take.
    var wanted = Set(ConformRule.all)
    /// Options given that allow a rule of ``ConformRule/Means/onRequest(_:)``.
    var allowed: Set<String> = []

    /// The reply's object, once one has come.
    var reply: JSONValue?
    /// Why there's none.
    var lacksReply = "no reply to a probe has come"
    /// The first hello's object.
    var hello: JSONValue?
    /// From hello to its answer, the shortest so far.
    var roundTrip: Duration?
    /// nil while unknown, or when it brings its own bodies.
    var vocabulary: Vocabulary?
    /// What the handshake proved, where a root is known: nil when there is nothing to complain of.
    var certificateFinding: ConformFinding?
    /// Whether we hold an identity to show.
    var hasIdentity = false
    /// Why a router that speaks TLS opens no session to us, as section 6 wants it; nil where it should.
    var lacksIdentity: String?

    var mac: String? { reply?["mac"]?.stringValue ?? hello?["mac"]?.stringValue }
    /// Where probes go, and replies must come from.
    var discoveryEndpoint = Endpoint(.loopback, port: 19_510)
    /// Values that properties have shown, for setting them to what they are.
    var values: [String: JSONValue] = [:]

    /// A BSSID of the router's own, or its MAC where it names no radio.
    var ownBSSID: String? { reply?["radios"]?.arrayValue?.first?["bssid"]?.stringValue }
    /// A property that can be read.
    var readable: String? { vocabulary?.properties.first { $0.isReadable }?.name }
    /// A property that can be read and written, and whose value is known.
    var writable: String? { vocabulary?.properties.first { $0.isReadable && $0.isWritable && values[$0.name] != nil }?.name }
    var speaksTLS: Bool { reply?["tls"]?.boolValue ?? false }
    /// The version that a session of ours gets.
    var version: UInt16 { hello?["version"]?.integerValue.flatMap { UInt16(exactly: $0) } ?? 1 }
    /// The largest body that layout and limit allow.
    var largestBody: Int { layout == .asciiLength ? min(limit, 9_999) : limit }
}

/// A script, the rules that it tells about, and the judgement of what happened: no part of it touches a network.
struct ConformTrial: Sendable {
    let rules: [ConformRule]
    /// Why it can't be done to this router; nil when it can.
    var obstacle: @Sendable (ConformSubject) -> String? = { _ in nil }
    let script: @Sendable (ConformSubject, inout ConformBytes) -> [ConformStep]
    /// The findings in the order of `rules`; may note in the subject what later trials need.
    let judge: @Sendable (ConformTranscript, inout ConformSubject) -> [ConformFinding]

    /// In the order in which they're done: each may rest on what earlier ones learned.
    static let all = discovery + opening + frames + vocabulary + receipts + resuming + trust + time + reboot

    static let needsReply: @Sendable (ConformSubject) -> String? = { $0.reply == nil ? $0.lacksReply : nil }
    static let needsHello: @Sendable (ConformSubject) -> String? = {
        $0.hello == nil ? $0.lacksIdentity ?? "no session could be opened" : nil
    }
    static let needsVocabulary: @Sendable (ConformSubject) -> String? = {
        needsHello($0) ?? ($0.vocabulary == nil ? "seen only with the sample vocabulary (section 7), which it doesn't speak" : nil)
    }
}
