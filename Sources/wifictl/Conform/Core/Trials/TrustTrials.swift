import FrameCodec
import SocketCore

/// Routers that speak TLS.
extension ConformTrial {
    static let trust = [certificate, stranger, plaintext]

    private static let needsTLS: @Sendable (ConformSubject) -> String? = {
        needsReply($0) ?? ($0.speaksTLS ? nil : "its reply offers no TLS")
    }

    /// Judged by the verifier that `wifictl verify` uses; here only reported.
    private static let certificate = ConformTrial(rules: [ConformRule.tlsCertificate], obstacle: needsTLS) { _, _ in
        []
    } judge: { _, subject in
        [subject.certificateFinding ?? .skipped("no company root is known: --root, or wifictl trust")]
    }

    private static let stranger = ConformTrial(rules: [ConformRule.tlsStranger], obstacle: needsTLS) { subject, bytes in
        [.open(0, .stranger), .send(0, bytes.hello(bytes.session())), .listen([0], .frames(1), atMost: subject.patience)]
    } judge: { transcript, subject in
        [transcript.line(0).hello(subject.layout) == nil ? .pass() : .fail("it answers a hello from somebody without a certificate")]
    }

    private static let plaintext = ConformTrial(rules: [ConformRule.tlsPlaintext], obstacle: needsTLS) { subject, bytes in
        [.open(0, .plaintext), .send(0, bytes.hello(bytes.session())), .listen([0], .frames(1), atMost: subject.patience)]
    } judge: { transcript, subject in
        [transcript.line(0).hello(subject.layout) == nil ? .pass() : .fail("it answers a hello in the clear")]
    }
}
