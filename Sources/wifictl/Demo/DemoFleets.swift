import SocketCore
import WifiDiscovery

/// The certificates of the demonstration, made on the fly: a company's, and its neighbour's. They're read into memory, and their files are
/// gone before the first router starts.
struct DemoFleets: Sendable {
    /// How each router speaks TLS, in the order of the descriptions; nil for one that can't.
    let servers: [TLSConfiguration?]
    /// The company's root and an operator's certificate: what the user of the demonstration has.
    let trust: RouterTrust

    /// Whose certificate a router has.
    enum Owner { case company, neighbour, nobody }

    /// - Throws: ``ToolError`` when no folder can be made, `TLSError` about what can't be issued.
    init(_ routers: [(description: RouterDescription, owner: Owner)]) throws {
        let folder = try ScratchFolder("demo")
        let now = WallTime.systemNow()
        let company = try CertificateAuthority.create(in: folder.path + "/company", name: "Example", enterprise: 32_473, now: now)
        let neighbour = try CertificateAuthority.create(in: folder.path + "/neighbour", name: "Neighbour", enterprise: 32_473, now: now)
        var servers: [TLSConfiguration?] = []
        for (description, owner) in routers {
            switch owner {
            case .company: servers.append(try DemoFleets.server(description, of: company, now))
            case .neighbour: servers.append(try DemoFleets.server(description, of: neighbour, now))
            case .nobody: servers.append(nil)
            }
        }
        self.servers = servers
        let user = try company.issueOperator(id: "demo", days: 1, now: now)
        trust = RouterTrust(
            roots: [try TLSConfiguration.NamedBytes(file: company.companyRootFile)],
            identity: try TLSIdentity(certificateFile: user.certificateFile, keyFile: user.keyFile))
    }

    private static func server(
        _ description: RouterDescription, of company: CertificateAuthority, _ now: WallTime
    ) throws(TLSError) -> TLSConfiguration {
        let issued = try company.issueDevice(
            address: description.mac.bits, radios: description.radios.map(\.bssid.bits), days: 1, now: now)
        let trust = OperatorTrust(
            identity: try TLSIdentity(certificateFile: issued.certificateFile, keyFile: issued.keyFile),
            roots: [try TLSConfiguration.NamedBytes(file: company.operatorRootFile)])
        return trust.configuration()
    }
}
