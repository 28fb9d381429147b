import SocketCore
import WifiDiscovery

/// `trust add | list | remove`: the roots and revocation lists that all commands judge by. Keys: `trust pin`.
extension Command {
    static let trustAdd = Command(
        name: "trust add", summary: "trusts a company root, or takes over a revocation list, for all commands", positionals: ["FILE..."],
        discussion: """
            Keeps a copy in the tool's state; from then on every command judges routers by it, and talks only to routers that prove to \
            be the company's. A file takes the place of one that was added before under the same name, if it's of the same kind: a list \
            never takes a root's.
            """,
        usesNetwork: false,
        examples: [Example("wifictl trust add company-root.pem company-revoked.pem", "the root, and what has been revoked since")]
    ) { arguments, context in
        let items = try arguments.positionals.map { path in try TrustFiles.read(path) }
        var replaced: [TrustState.Item] = []
        let after = try TrustState(home: context.home).update { kept in
            for item in items {
                replaced += kept.items.filter { $0.name == item.name && $0.kind == .root && item.kind == .root && $0.pem != item.pem }
                if let other = kept.items.first(where: { $0.name == item.name && $0.kind != item.kind }) {
                    throw ToolError(
                        "\(item.name) is trusted as a \(other.kind.rawValue) already, and the new file of that name is a \(item.kind.rawValue)",
                        hint: "rename it, or wifictl trust remove \(item.name) first")
                }
                kept.items.removeAll { $0.name == item.name }
                kept.items.append(item)
            }
            guard kept.items.count <= TrustState.mostFiles else {
                throw ToolError("more than \(TrustState.mostFiles) files aren't kept", hint: "see wifictl trust list")
            }
            return kept
        }
        for item in items { tell(item, isTrusted: true, context.output) }
        for root in replaced {
            context.output.warning(
                "\(root.name) took the place of another root of that name, which is trusted no longer: rename one to keep both")
        }
        let lists = items.filter { $0.kind == .list }.map { TLSConfiguration.NamedBytes(name: $0.name, bytes: Array($0.pem.utf8)) }
        try TrustOptions.tellStrays(among: lists, after.roots, context.output)
        return .success
    }

    static let trustList = Command(
        name: "trust list", summary: "lists the roots, revocation lists and routers' keys that all commands judge by", usesNetwork: false,
        examples: [Example("wifictl trust list", "a line each; the exit status is 1 when there is none")]
    ) { _, context in
        let kept = try TrustState(home: context.home).load()
        let pins = kept.memory.records.compactMap { mac, record in record.pin.map { (mac, Hex.text($0)) } }.sorted { $0.0 < $1.0 }
        guard !kept.items.isEmpty || !pins.isEmpty else {
            context.output.remark("nothing is trusted yet (wifictl trust add)")
            return .negative
        }
        if context.output.isJSON {
            for item in kept.items { context.output.json("trust", ["name": .string(item.name), "kind": .string(item.kind.rawValue)]) }
            for (mac, key) in pins { context.output.json("trust", ["name": .string("\(mac)"), "kind": "pin", "key": .string(key)]) }
            return .success
        }
        var table = Table([Table.Column("NAME"), Table.Column("KIND"), Table.Column("KEY")])
        for item in kept.items { table.add([Table.Cell(item.name), Table.Cell(item.kind.rawValue), ""]) }
        for (mac, key) in pins { table.add([Table.Cell("\(mac)"), "pin", Table.Cell(key)]) }
        context.output.table(table)
        return .success
    }

    static let trustRemove = Command(
        name: "trust remove", summary: "trusts a root or list no longer", positionals: ["NAME..."], usesNetwork: false,
        examples: [Example("wifictl trust remove company-root.pem", "by the name that trust list shows")]
    ) { arguments, context in
        var removed: [TrustState.Item] = []
        try TrustState(home: context.home).update { kept in
            removed = kept.items.filter { arguments.positionals.contains($0.name) }
            for name in arguments.positionals {
                guard kept.items.contains(where: { $0.name == name }) else {
                    let near = Suggestion.nearest(to: name, among: kept.items.map(\.name))
                    throw ToolError(
                        "nothing called '\(name)' is trusted", hint: near.map { "did you mean \($0)?" } ?? "see wifictl trust list")
                }
                kept.items.removeAll { $0.name == name }
            }
        }
        for item in removed { tell(item, isTrusted: false, context.output) }
        return .success
    }

    /// What became of a file: a remark for people, a line for scripts.
    private static func tell(_ item: TrustState.Item, isTrusted: Bool, _ output: Output) {
        let kind = item.kind.rawValue
        guard !output.isJSON else {
            return output.json("trust", ["name": .string(item.name), "kind": .string(kind), "trusted": .bool(isTrusted)])
        }
        output.remark("\(item.name) is trusted \(isTrusted ? "as a \(kind)" : "no longer")")
    }
}

/// Files to trust, looked at before they're kept.
private enum TrustFiles {
    static func read(_ path: String) throws -> TrustState.Item {
        let contents = try CertificateInspection.contents(ofFile: path)
        var kinds: Set<TrustState.Item.Kind> = []
        for content in contents {
            switch content {
            case .certificate(let facts):
                guard facts.isAuthority else {
                    throw ToolError(
                        "\(path) holds the certificate of \(CertificateText.printable(facts.subject)), which is no authority's",
                        hint: "trust the company's root, or an issuer below it")
                }
                kinds.insert(.root)
            case .revocationList: kinds.insert(.list)
            case .privateKey:
                throw ToolError("\(path) holds a private key, which isn't needed here", hint: "give the certificate's file alone")
            }
        }
        guard kinds.count == 1, let kind = kinds.first else {
            throw ToolError("\(path) holds certificates and revocation lists", hint: "give them in files of their own")
        }
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let bytes = try TLSConfiguration.NamedBytes(file: path).bytes
        guard let pem = String(validating: bytes, as: UTF8.self), pem.contains("-----BEGIN ") else {
            throw ToolError("\(path) isn't PEM", hint: "openssl \(kind == .root ? "x509" : "crl") -inform DER -in \(path) -out \(name).pem")
        }
        return TrustState.Item(name: name, kind: kind, pem: pem)
    }
}
