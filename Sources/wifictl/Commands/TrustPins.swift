import SocketCore
import WifiDiscovery

/// `trust pin | unpin`: keys trusted at sight, where no company root is configured.
extension Command {
    static let trustPin = Command(
        name: "trust pin", summary: "trusts the key that a router shows now, where there is no company root", positionals: ["ROUTER"],
        discussion: """
            Makes a TLS handshake with the router and keeps the SHA-256 of its public key. From then on its verdict is pinned; if it shows \
            another key, or none, commands refuse it and say so. Compare the key with the one on the router's label or screen: a key \
            taken at sight is as good as the network was at that moment. With a company root none is pinned, since certificates say more.
            """,
        examples: [Example("wifictl trust pin attic", "trusts the router called attic by the key that it shows")]
    ) { arguments, context in
        let reference = try arguments.required(0, "ROUTER")
        let state = TrustState(home: context.home)
        guard try state.load().roots.isEmpty else {
            throw ToolError("a company root is configured, so keys aren't pinned", hint: "wifictl verify judges by it")
        }
        let trust = RouterTrust()
        // Nobody is asked for more than a handshake here.
        let session = SessionConfiguration(role: .controller)
        let run = VerifyRun(trust, session, try SessionTool.discovery(context), .seconds(3), station: nil, context)
        let subjects = try await run.named([reference]).map(\.subject)
        guard subjects.count < 2 else {
            let macs = subjects.map { "\($0.mac)" }.joined(separator: " and ")
            throw ToolError("\(reference) fits \(macs)", hint: "name one by its MAC")
        }
        guard let finding = try await VerifyRun.findings(subjects, trust, session, home: context.home, context.output).first else {
            throw ManagerError.unknownRouter(reference)
        }
        let mac = finding.subject.mac
        if finding.judgement.verdict == .unproven(.keyChanged) {
            throw ToolError(
                "\(mac) shows another key than the one trusted before: if nobody has reset it, somebody is posing as it",
                hint: "if you have reset it: wifictl trust unpin \(mac), then pin it again")
        }
        guard let certificate = finding.judgement.certificate else {
            throw ToolError(
                "\(mac) shows no key to trust: \(finding.judgement.detail)",
                hint: "only a router that speaks TLS can be pinned; without a root, send, get and others talk to this one as it is")
        }
        let isKept = try state.update { $0.memory.pin(certificate, for: mac, now: trust.clock()) }
        guard isKept else { throw ToolError("\(TrustMemory.most) routers are pinned already", hint: "wifictl trust unpin some") }
        let key = Hex.text(certificate.keyFingerprint)
        if context.output.isJSON {
            context.output.json(
                "pin", ["mac": .string("\(mac)"), "key": .string(key), "certificate": VerifyReport.certificate(certificate)])
        } else {
            context.output.line("\(mac)  SHA-256 of its key \(key)")
            context.output.remark("compare it with what the router's label or screen shows: only then is the trust worth something")
        }
        return .success
    }

    static let trustUnpin = Command(
        name: "trust unpin", summary: "trusts a router's key no longer", positionals: ["ROUTER..."], usesNetwork: false,
        examples: [Example("wifictl trust unpin 02:00:5e:00:53:01", "after it was reset, or given away")]
    ) { arguments, context in
        let known = try RouterDirectory(home: context.home).load()
        try TrustState(home: context.home).update { kept in
            for text in arguments.positionals {
                let mac = try MACAddress(text) ?? known.router(named: text).router.mac
                guard kept.memory.unpin(mac, now: .systemNow()) else {
                    throw ToolError("no key of \(mac) is trusted", hint: "see wifictl trust list")
                }
                if context.output.isJSON {
                    context.output.json("trust", ["name": .string("\(mac)"), "kind": "pin", "trusted": false])
                } else {
                    context.output.remark("the key of \(mac) is trusted no longer")
                }
            }
        }
        return .success
    }
}
