import Glibc

#if canImport(CLinux)
    import CLinux
#endif

/// A company's certificates in one directory, for tests and small fleets. A large one has its own authority and only follows
/// the profile (protocol.md, section 6).
///
/// | file | what | who needs it |
/// |---|---|---|
/// | `company-root.pem` | root of the devices | controllers, to judge routers |
/// | `operator-root.pem` | root of the operators | routers, to judge controllers |
/// | `company-root.key`, `operator-root.key` | their keys, 0600 | nobody but this directory's owner |
/// | `company-revoked.pem`, `operator-revoked.pem` | revocation lists | the same as the roots |
/// | `devices/<mac>.pem`, `.key`, `operators/<id>.pem`, `.key` | what was issued, keys 0600 | its device or operator |
/// | `issued.jsonl` | a line for each certificate issued | `revoke` |
/// | `company.json` | name and enterprise number | this code |
public struct CertificateAuthority: Sendable {
    /// Reserved for documentation (RFC 5612): good for tests, to be replaced by the company's own.
    public static let exampleEnterprise: UInt32 = 32_473
    /// How long a revocation list counts as fresh. A stale one locks nobody out.
    public static let listDays = 30
    /// Clocks differ: what is issued counts from a day before.
    private static let leadDays = -1

    /// A certificate and its key, as files.
    public struct Issued: Sendable {
        /// The certificate's file.
        public let certificateFile: String
        /// The key's file, 0600.
        public let keyFile: String
        /// What the certificate says.
        public let facts: CertificateFacts
        /// The serial of an earlier certificate, not revoked, whose files these have taken the place of; nil where there was none.
        public let replaced: String?
    }

    /// The two kinds of certificates that are issued, each by a root of its own.
    enum Kind: String {
        case device, `operator`

        fileprivate var rootName: String { self == .device ? "company-root" : "operator-root" }
        fileprivate var listName: String { self == .device ? "company-revoked.pem" : "operator-revoked.pem" }
        fileprivate var folder: String { self == .device ? "devices" : "operators" }
        fileprivate var purpose: CertificateTemplate.Purpose { self == .device ? .device : .operators }
    }

    /// Where everything lies.
    public let directory: String
    /// The company's private enterprise number, which all names begin with.
    public let enterprise: UInt32
    /// The company's name, for display.
    public let name: String

    /// The root that controllers judge routers by.
    public var companyRootFile: String { path(Kind.device.rootName + ".pem") }
    /// The root that routers judge controllers by.
    public var operatorRootFile: String { path(Kind.operator.rootName + ".pem") }
    /// The devices' revocation list.
    public var companyListFile: String { path(Kind.device.listName) }
    /// The operators' revocation list.
    public var operatorListFile: String { path(Kind.operator.listName) }

    func path(_ name: String) -> String { directory + "/" + name }
}

extension CertificateAuthority {
    /// Makes a company: two roots that differ, and empty revocation lists.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` when there is one already, or a file can't be written.
    public static func create(in directory: String, name: String, enterprise: UInt32, now: WallTime) throws(TLSError)
        -> CertificateAuthority
    {
        guard enterprise > 0 else {
            throw .configuration("0 is no enterprise number: use the company's own, or \(exampleEnterprise) in tests")
        }
        let company = CertificateAuthority(directory: directory, enterprise: enterprise, name: name)
        for folder in [directory, company.path(Kind.device.folder), company.path(Kind.operator.folder)] {
            try makeDirectory(folder)
        }
        let lock = try company.lock()
        defer { lock.release() }
        guard !TLSFile.exists(company.path("company.json")), !TLSFile.exists(company.companyRootFile) else {
            throw .configuration("\(directory) already holds a company: name an empty directory, or remove it if nobody uses it")
        }
        for (kind, title) in [(Kind.device, "devices"), (.operator, "operators")] {
            let key = try PrivateKey.makeP256()
            let root = try CertificateBuilder.make(
                CertificateTemplate(
                    commonName: "\(name) \(title)", purpose: .authority, notBefore: now.adding(days: leadDays), notAfter: .noExpiry),
                for: key, issuer: nil)
            try write(key, to: company.path(kind.rootName + ".key"))
            try TLSFile.write(root.pem, to: company.path(kind.rootName + ".pem"))
            let list = try RevocationListBuilder.make(
                from: nil, adding: nil, issuer: (root, key), now: now, until: now.adding(days: listDays))
            try TLSFile.write(list, to: company.path(kind.listName))
        }
        let settings = JSONValue.object([.init("name", .string(name)), .init("pen", .integer(Int64(enterprise)))])
        try TLSFile.write(settings.encoded() + [0x0A], to: company.path("company.json"))
        return company
    }

    /// Opens a company that ``create(in:name:enterprise:now:)`` has made.
    ///
    /// - Throws: ``TLSError/configuration(_:)``.
    public init(opening directory: String) throws(TLSError) {
        let file = directory + "/company.json"
        guard TLSFile.exists(file) else {
            throw .configuration("\(directory) holds no company: make one with wifictl identity new-company \(directory)")
        }
        guard let settings = try? JSONValue.parse(try TLSFile.read(file)), let number = settings["pen"]?.integerValue,
            let enterprise = UInt32(exactly: number), enterprise > 0
        else {
            throw .configuration("\(file) is damaged: it should read {\"name\":\"…\",\"pen\":\(CertificateAuthority.exampleEnterprise)}")
        }
        self.init(directory: directory, enterprise: enterprise, name: settings["name"]?.stringValue ?? "")
    }

    /// Issues a router's certificate.
    ///
    /// - Parameters:
    ///   - address: its MAC in the low 48 bits.
    ///   - radios: BSSIDs, at most ``CertifiedNames/mostRadios``.
    ///   - days: how long it's valid; nil for ever.
    ///   - now: when it begins to be.
    ///   - replacing: whether the files of an earlier certificate of it that isn't revoked may be overwritten.
    /// - Throws: ``TLSError/configuration(_:)``.
    public func issueDevice(
        address: UInt64, radios: [UInt64], days: Int?, now: WallTime, replacing: Bool = false
    ) throws(TLSError) -> Issued {
        guard radios.count <= CertifiedNames.mostRadios else {
            throw .configuration("\(radios.count) radios, and a certificate names at most \(CertifiedNames.mostRadios): leave some out")
        }
        let names =
            [CertifiedNames.deviceURI(address, enterprise: enterprise)]
            + radios.map { CertifiedNames.radioURI($0, enterprise: enterprise) }
        let label = CertifiedNames.hex(address)
        return try issue(
            .device, label: label, commonName: "Router \(label)", names: names.compactMap { $0 }, days: days, now: now, replacing)
    }

    /// Whether a controller's certificate can name that id.
    public static func isOperatorID(_ id: String) -> Bool {
        CertifiedNames.operatorURI(id, enterprise: 1) != nil && id.utf8.count <= 64 && id != "." && id != ".."
    }

    /// Issues a controller's certificate.
    ///
    /// - Parameters:
    ///   - id: its name.
    ///   - days: how long it's valid; nil for ever.
    ///   - now: when it begins to be.
    ///   - replacing: whether the files of an earlier certificate of it that isn't revoked may be overwritten.
    /// - Throws: ``TLSError/configuration(_:)``.
    public func issueOperator(id: String, days: Int?, now: WallTime, replacing: Bool = false) throws(TLSError) -> Issued {
        guard let uri = CertifiedNames.operatorURI(id, enterprise: enterprise), CertificateAuthority.isOperatorID(id) else {
            throw .configuration("'\(id)' is no operator's id: use 1 to 64 letters, digits, dots and dashes")
        }
        return try issue(.operator, label: id, commonName: "Operator \(id)", names: [uri], days: days, now: now, replacing)
    }

    private func issue(
        _ kind: Kind, label: String, commonName: String, names: [String], days: Int?, now: WallTime, _ replacing: Bool
    ) throws(TLSError) -> Issued {
        let lock = try lock()
        defer { lock.release() }
        let base = path("\(kind.folder)/\(label)")
        let earlier = try inForce(kind, base, replacing)
        let key = try PrivateKey.makeP256()
        let template = CertificateTemplate(
            commonName: commonName, purpose: kind.purpose, names: names, notBefore: now.adding(days: CertificateAuthority.leadDays),
            notAfter: days.map { min(now.adding(days: $0), .noExpiry) } ?? .noExpiry)
        let certificate = try CertificateBuilder.make(template, for: key, issuer: try issuer(kind))
        // Noted before it exists: what was issued must be revocable, whatever happens in between.
        try Register(file: path("issued.jsonl")).add(certificate.facts, kind, label)
        try CertificateAuthority.write(key, to: base + ".key")
        try TLSFile.write(certificate.pem, to: base + ".pem")
        return Issued(certificateFile: base + ".pem", keyFile: base + ".key", facts: certificate.facts, replaced: earlier)
    }

    /// The serial of a certificate that lies there already and isn't revoked. Overwritten, its key would be lost to whoever has no copy, and
    /// it would count on, with nobody knowing its serial.
    private func inForce(_ kind: Kind, _ base: String, _ replacing: Bool) throws(TLSError) -> String? {
        guard TLSFile.exists(base + ".pem") || TLSFile.exists(base + ".key") else { return nil }
        var serial: String?
        // What can't be read can't be called revoked.
        if let bytes = try? TLSFile.read(base + ".pem") { serial = (try? Certificate.all(in: bytes, of: base))?.first?.facts.serial }
        if let serial, try isRevoked(serial, kind) { return nil }
        guard !replacing else { return serial }
        guard let serial else {
            throw .configuration("\(base).pem or .key is there already: move it away, or write over it with --replace")
        }
        throw .configuration(
            "\(base).pem is there already, with the serial \(serial): wifictl identity revoke \(directory) \(serial) first, or write over it "
                + "with --replace, and it counts until it's revoked")
    }

    private func isRevoked(_ serial: String, _ kind: Kind) throws(TLSError) -> Bool {
        let file = path(kind.listName)
        guard TLSFile.exists(file) else { return false }
        return try RevocationList.all(in: TLSFile.read(file), of: file).contains { $0.lists(serial: serial) }
    }

    /// The serial of the one certificate issued here whose serial begins like that.
    ///
    /// - Parameter text: hex digits, colons between them or none; as many as tell it from the others.
    /// - Throws: ``TLSError/configuration(_:)`` when there's none, or several.
    public func serial(beginning text: String) throws(TLSError) -> String {
        let start = CertificateAuthority.plain(text)
        let all = try Register(file: path("issued.jsonl")).serials()
        if all.contains(start) { return start }
        let found = start.isEmpty ? [] : all.filter { $0.hasPrefix(start) }
        guard found.count < 2 else {
            throw .configuration("\(found.count) serials begin with \(text): \(found.prefix(8).joined(separator: ", ")); write more of it")
        }
        guard let only = found.first else {
            throw .configuration(
                "no certificate with the serial \(text) was issued in \(directory): wifictl identity show FILE tells the serial")
        }
        return only
    }

    /// As the register has it: lower-case hex without leading zeros.
    private static func plain(_ serial: String) -> String { String(serial.lowercased().filter { $0 != ":" }.drop { $0 == "0" }) }

    /// Puts a certificate that was issued here on its issuer's revocation list, and renews that list.
    ///
    /// - Returns: the list's file, to be handed to all that judge.
    /// - Throws: ``TLSError/configuration(_:)`` when no certificate with that serial was issued here.
    public func revoke(serial: String, listDays: Int = CertificateAuthority.listDays, now: WallTime) throws(TLSError) -> String {
        let lock = try lock()
        defer { lock.release() }
        let wanted = CertificateAuthority.plain(serial)
        guard let kind = try Register(file: path("issued.jsonl")).kind(of: wanted) else {
            throw .configuration(
                "no certificate with the serial \(serial) was issued in \(directory): wifictl identity show FILE tells the serial")
        }
        let issuer = try issuer(kind)
        let file = path(kind.listName)
        let old = try TLSFile.exists(file) ? RevocationList.all(in: TLSFile.read(file), of: file)[0] : nil
        if let old, !old.isSigned(by: issuer.certificate.handle) {
            throw .configuration("\(file) isn't signed by \(path(kind.rootName + ".pem")): remove it to begin a new list")
        }
        let list = try RevocationListBuilder.make(
            from: old, adding: old?.lists(serial: wanted) == true ? nil : wanted, issuer: issuer, now: now,
            until: now.adding(days: listDays))
        try TLSFile.write(list, to: file)
        return file
    }

    private func issuer(_ kind: Kind) throws(TLSError) -> (certificate: Certificate, key: PrivateKey) {
        let file = path(kind.rootName + ".pem")
        let keyFile = path(kind.rootName + ".key")
        let certificate = try Certificate.all(in: TLSFile.read(file), of: file)[0]
        let key = try PrivateKey(pem: SecretBytes(try TLSFile.read(keyFile)), of: keyFile)
        guard key.belongs(to: certificate) else {
            throw .configuration("\(keyFile) isn't the key of \(file): restore both from a backup")
        }
        return (certificate, key)
    }

    private static func write(_ key: PrivateKey, to path: String) throws(TLSError) {
        let pem = try key.pem()
        let failure = pem.withBytes { bytes -> TLSError? in
            do throws(TLSError) {
                try TLSFile.write(bytes, to: path, isPrivate: true)
                return nil
            } catch { return error }
        }
        if let failure { throw failure }
    }

    private static func makeDirectory(_ path: String) throws(TLSError) {
        guard mkdir(path, 0o700) != 0, errno != EEXIST else { return }
        throw .configuration("cannot make the directory \(path): \(SystemError(function: "mkdir", code: errno).reason)")
    }

    /// Keeps two processes from working on one company at once.
    private func lock() throws(TLSError) -> FileLock {
        do throws(SystemError) { return try FileLock.wait(for: path(".lock")) } catch {
            throw .configuration("cannot lock \(error.subject): \(error.reason)")
        }
    }
}
