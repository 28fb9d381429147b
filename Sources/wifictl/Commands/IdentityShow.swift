import SocketCore
import WifiDiscovery

/// `identity show FILE`: what certificates and revocation lists say, in words and as JSON.
extension Command {
    static let identityShow = Command(
        name: "identity show", summary: "shows what a certificate or revocation list says", positionals: ["FILE..."],
        discussion: "Shows facts only; whether they're to be trusted is for verify to say. Nothing of a private key is ever shown.",
        usesNetwork: false,
        examples: [
            Example("wifictl identity show fleet/devices/02005e005301.pem", "shows one router's certificate"),
            Example("wifictl identity show fleet/*.pem", "several files, each under its name"),
        ]
    ) { arguments, context in
        for (index, file) in arguments.positionals.enumerated() {
            for (place, content) in try CertificateInspection.contents(ofFile: file).enumerated() {
                if index + place > 0, !context.output.isJSON { context.output.line("") }
                if place == 0, arguments.positionals.count > 1, !context.output.isJSON {
                    context.output.line(context.output.paint("\(DisplayWidth.printable(file)):", .bold))
                }
                show(content, of: file, context)
            }
        }
        return .success
    }

    private static func show(_ content: CertificateInspection, of file: String, _ context: Context) {
        switch content {
        case .certificate(let facts):
            if context.output.isJSON {
                context.output.json("certificate", [.init("file", .string(file))] + CertificateText.members(facts))
            } else {
                context.output.line(CertificateText.lines(facts).joined(separator: "\n"))
            }
        case .revocationList(let issuer, let made, let due, let revoked):
            guard context.output.isJSON else {
                let title = "revocation list of \(CertificateText.printable(issuer))"
                context.output.line("\(title)\n  made      \(made?.description ?? "-")\n  next due  \(due?.description ?? "-")")
                if revoked.isEmpty { context.output.line("  revoked   nothing") }
                for entry in revoked { context.output.line("  revoked   \(entry.serial) since \(entry.since)") }
                return
            }
            context.output.json(
                "revocationList",
                [
                    "file": .string(file), "issuer": .string(issuer), "made": .text(made?.description), "due": .text(due?.description),
                    "revoked": .array(
                        revoked.map { .object([.init("serial", .string($0.serial)), .init("since", .string($0.since.description))]) }),
                ])
        case .privateKey:
            if context.output.isJSON {
                context.output.json("privateKey", ["file": .string(file)])
            } else {
                context.output.line("a private key (not shown)")
            }
        }
    }
}

/// A certificate's facts for people and for scripts.
enum CertificateText {
    /// What the certificate is by its own words.
    static func kind(_ facts: CertificateFacts) -> String {
        let names = facts.names()
        if facts.isAuthority { return "authority" }
        if names.deviceAddresses.count == 1, facts.extendedKeyUsage?.contains(.server) == true { return "device" }
        if names.operators.count == 1, facts.extendedKeyUsage?.contains(.client) == true { return "operator" }
        return "other"
    }

    static func validity(_ facts: CertificateFacts) -> String {
        "\(facts.notBefore.day) to \(facts.notAfter == .noExpiry ? "no end" : facts.notAfter.day)"
    }

    /// Certificates come from strangers: nothing in them may steer a terminal.
    static func printable(_ text: String) -> String { DisplayWidth.printable(text) }

    static func lines(_ facts: CertificateFacts) -> [String] {
        let names = facts.names()
        var rows = [
            ("subject", printable(facts.subject)), ("issuer", printable(facts.issuer)), ("serial", facts.serial),
            ("valid", validity(facts)),
            ("key", "\(facts.key)"), ("use", (usages(facts) + extendedUsages(facts)).joined(separator: ", ")),
        ]
        rows += names.deviceAddresses.map { ("MAC", MACAddress(bits: $0).description) }
        rows += names.radioAddresses.map { ("BSSID", MACAddress(bits: $0).description) }
        rows += names.operators.map { ("operator", $0) }
        if let enterprise = names.enterprise { rows.append(("PEN", String(enterprise))) }
        if let problem = names.problem { rows.append(("problem", printable(problem.sentence))) }
        rows += [("SHA-256", Hex.text(facts.fingerprint)), ("key pin", Hex.text(facts.keyFingerprint))]
        return ["\(kind(facts)) certificate"] + rows.map { "  " + $0.0 + String(repeating: " ", count: 10 - $0.0.count) + $0.1 }
    }

    static func members(_ facts: CertificateFacts) -> [JSONValue.Member] {
        let names = facts.names()
        return [
            .init("kind", .string(kind(facts))), .init("serial", .string(facts.serial)), .init("subject", .string(facts.subject)),
            .init("issuer", .string(facts.issuer)),
            .init("mac", .text(names.deviceAddresses.count == 1 ? MACAddress(bits: names.deviceAddresses[0]).description : nil)),
            .init("bssids", .array(names.radioAddresses.map { .string(MACAddress(bits: $0).description) })),
            .init("operator", .text(names.operators.count == 1 ? names.operators[0] : nil)), .init("pen", .whole(names.enterprise)),
            .init("notBefore", .string(facts.notBefore.description)), .init("notAfter", .string(facts.notAfter.description)),
            .init("key", .string(facts.key.description)), .init("keyUsage", .array(usages(facts).map { .string($0) })),
            .init("extendedKeyUsage", .array(extendedUsages(facts).map { .string($0) })),
            .init("fingerprint", .hex(facts.fingerprint)), .init("keyFingerprint", .hex(facts.keyFingerprint)),
            .init("problem", .text(names.problem?.sentence)),
        ]
    }

    private static func usages(_ facts: CertificateFacts) -> [String] {
        let known: [(KeyUsage, String)] = [
            (.digitalSignature, "digitalSignature"), (.certificateSigning, "keyCertSign"), (.listSigning, "cRLSign"), (.other, "other"),
        ]
        return known.filter { facts.keyUsage?.contains($0.0) == true }.map(\.1)
    }

    private static func extendedUsages(_ facts: CertificateFacts) -> [String] {
        let known: [(ExtendedKeyUsage, String)] = [(.server, "serverAuth"), (.client, "clientAuth"), (.other, "otherPurpose")]
        return known.filter { facts.extendedKeyUsage?.contains($0.0) == true }.map(\.1)
    }
}
