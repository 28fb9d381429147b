import SocketCore
import WifiDiscovery

/// `verify [ROUTER…]`: whose routers they are.
extension Command {
    private static let span = DefaultedOption(
        "for", "TIME", .duration, default: Duration.seconds(3), shown: "3s", "how long to look for routers")

    private static let limit = DefaultedOption(
        "timeout", "TIME", .duration, default: Duration.seconds(5), shown: "5s", "how long each router has for its handshake")

    static let verify = Command(
        name: "verify", summary: "asks routers to prove whose they are", positionals: ["[ROUTER...]"],
        discussion: """
            Makes a TLS handshake with each ROUTER, or with all that are found when none is named, and judges its certificate by the \
            company's roots (--root, or those of wifictl trust). --identity is shown only to the company's, and with it they are asked for \
            the access points behind them; beyond that nothing is said to a router.
            Verdicts: company (proven), impostor (the company's certificate of another device), foreign (somebody else's certificate), \
            vouched (unproven itself, named as its child by a proven router), pinned (no root, and the key trusted before: see wifictl \
            trust pin), unproven (with the reason). The exit status is 0 when all are company.
            """,
        options: [span, limit] + TrustOptions.judging + [FrameOptions.layout],
        examples: [
            Example("wifictl verify --root company-root.pem", "judges all routers on the network"),
            Example("wifictl verify 02:00:5e:00:53:01 --root company-root.pem --crl company-revoked.pem --json", "one, for a script"),
        ]
    ) { arguments, context in
        let trust = try TrustOptions.routerTrust(arguments, context)
        var run = VerifyRun(
            trust, SessionTool.inquiry(arguments), try SessionTool.discovery(context), arguments[span],
            station: arguments[TrustOptions.station], context)
        run.limit = arguments[limit]
        let subjects: [VerifyRun.Router]
        do { subjects = arguments.positionals.isEmpty ? try await run.everybody() : try await run.named(arguments.positionals) } catch
            where context.cancellation.isRaised
        {
            run.wasInterrupted()
            throw CancellationError()
        }
        return try await run.judge(subjects)
    }
}
