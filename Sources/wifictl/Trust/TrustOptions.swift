import SocketCore
import WifiDiscovery

/// The options by which commands learn whom to trust and who they are themselves.
enum TrustOptions {
    static let identity = Option("identity", "CERT", .path, "PEM file with our own certificate, and what lies between it and its root")
    static let key = Option("key", "KEY", .path, "PEM file with that certificate's private key")
    static let clientRoot = RepeatedOption("client-root", "FILE", .path, "certificate that controllers' certificates have to lead to")
    static let root = RepeatedOption(
        "root", "FILE", .path, "company root that routers' certificates have to lead to, beside those of wifictl trust")
    static let revocationList = RepeatedOption("crl", "FILE", .path, "revocation list by the peers' issuer")
    static let enterprise = Option(
        "pen", "N", ValueKind<UInt32>.integer(in: 1...UInt32.max),
        "the company's private enterprise number: names that others have given don't count; without it any company's count")
    static let station = Option(
        "station", "MAC", .mac, "this machine's own MAC, for routers to say behind which access point it sits; by default the interface's")
    static let unproven = Flag("unproven", "talk to this ROUTER also when it doesn't prove to be the company's")

    /// For commands that talk to a router.
    static let talking: [any OptionDeclaration] = [root, revocationList, identity, key, enterprise, unproven]
    /// For commands that only judge.
    static let judging: [any OptionDeclaration] = [root, revocationList, identity, key, enterprise, station]

    /// The commands whose identity, lists and company are another's than the controller's on the same machine.
    static let others: Set<String> = ["router", "identity new-company"]

    /// A refusal to talk to a router that isn't proven, with the way round it; any other error as it is.
    static func explained(_ error: any Error) -> any Error {
        switch error {
        case ManagerError.notProven: break
        case let error as SwitchError where error.step == .prove: break
        case ManagerError.notOpened(_, _, let reason) where FrameOptions.mayBeLayout(reason):
            return ToolError("\(error)", hint: FrameOptions.layoutHint)
        case let error as SwitchError where FrameOptions.mayBeLayout(error):
            return ToolError("\(error)", hint: FrameOptions.layoutHint)
        default: return error
        }
        return ToolError("\(error)", hint: "--unproven talks to it all the same")
    }

    private static func files(_ paths: [String]) throws(TLSError) -> [TLSConfiguration.NamedBytes] {
        var files: [TLSConfiguration.NamedBytes] = []
        for path in paths { files.append(try TLSConfiguration.NamedBytes(file: path)) }
        return files
    }

    private static func ownIdentity(_ arguments: Arguments, _ output: Output) throws -> TLSIdentity? {
        switch (arguments[identity], arguments[key]) {
        case (nil, nil): return nil
        case (let certificates?, let key?):
            let own = try TLSIdentity(certificateFile: certificates, keyFile: key)
            if own.isKeyOpenToAll { output.warning("\(key) is a private key that every user of this machine can read: chmod o= \(key)") }
            return own
        case (.some, nil): throw UsageError("--key is missing", hint: "--identity needs its private key", about: identity.name)
        case (nil, .some): throw UsageError("--identity is missing", hint: "--key needs its certificate", about: key.name)
        }
    }

    /// A list by somebody whom no root is of may be the wrong file, which revokes nobody.
    static func tellStrays(
        among lists: [TLSConfiguration.NamedBytes], _ roots: [TLSConfiguration.NamedBytes], _ output: Output
    ) throws(TLSError) {
        for list in lists {
            for issuer in try list.listIssuers(notAmong: roots) {
                output.warning(
                    "\(list.name) is by \(CertificateText.printable(issuer)), which is none of the roots: it counts only for those who send "
                        + "that issuer's certificate along")
            }
        }
    }

    /// How a router of this tool speaks TLS; nil where no identity is given. How late it certainly is, it keeps in the tool's state.
    static func routerConfiguration(_ arguments: Arguments, _ context: Context) throws -> TLSConfiguration? {
        guard let identity = try ownIdentity(arguments, context.output) else {
            guard !arguments.isGiven(clientRoot) else {
                throw UsageError("--client-root without --identity", hint: "a router without certificate can't speak TLS")
            }
            return nil
        }
        guard arguments.isGiven(clientRoot) else {
            throw UsageError("--client-root is missing", hint: "a router with an identity admits only operators: name their root")
        }
        let trust = OperatorTrust(
            identity: identity, roots: try files(arguments[clientRoot]), revocationLists: try files(arguments[revocationList]),
            rules: OperatorRules(enterprise: arguments[enterprise]))
        try tellStrays(among: trust.revocationLists, trust.roots, context.output)
        let (state, output) = (TrustState(home: context.home), context.output)
        return trust.configuration(floor: try state.load().memory.floor) { floor in
            do { try state.update { $0.memory.raise(to: floor) } } catch { output.warning("how late it is can't be kept: \(error)") }
        } onRemark: {
            output.remark($0)
        }
    }

    /// What routers are judged by: the files named, and those that `wifictl trust` keeps.
    static func routerTrust(_ arguments: Arguments, _ context: Context) throws -> RouterTrust {
        let kept = try TrustState(home: context.home).load()
        let lists = try files(arguments[revocationList])
        var trust = RouterTrust(
            roots: try files(arguments[root]) + kept.roots, revocationLists: lists + kept.revocationLists,
            identity: try ownIdentity(arguments, context.output))
        trust.enterprise = arguments[enterprise]
        let output = context.output
        trust.onRemark = { output.remark($0) }
        try trust.check()
        try tellStrays(among: lists, trust.roots, context.output)
        return trust
    }
}
