import Glibc
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
        var template = Array(((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp") + "/wifictl-demo-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ToolError("no folder for certificates can be made: \(systemMessage(errno))", hint: "name a writable one in TMPDIR")
        }
        let folder = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        defer { DemoFleets.remove(folder) }
        let now = WallTime.systemNow()
        let company = try CertificateAuthority.create(in: folder + "/company", name: "Example", enterprise: 32_473, now: now)
        let neighbour = try CertificateAuthority.create(in: folder + "/neighbour", name: "Neighbour", enterprise: 32_473, now: now)
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
        let rules = OperatorRules()
        return TLSConfiguration(
            role: .server(requiresPeer: true),
            identity: try TLSIdentity(certificateFile: issued.certificateFile, keyFile: issued.keyFile),
            roots: [try TLSConfiguration.NamedBytes(file: company.operatorRootFile)]
        ) { evidence in
            if case .failure(let error) = rules.judge(evidence, at: ClockFloor().judge(.systemNow())) { error } else { nil }
        }
    }

    /// Removes a folder with all that is in it; what can't be removed stays in the system's folder for such things.
    private static func remove(_ folder: String) {
        if let stream = opendir(folder) {
            defer { closedir(stream) }
            while let entry = readdir(stream) {
                let name = withUnsafePointer(to: &entry.pointee.d_name) {
                    $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
                }
                guard name != ".", name != ".." else { continue }
                let path = folder + "/" + name
                if unlink(path) != 0 { remove(path) }
            }
        }
        rmdir(folder)
    }
}
