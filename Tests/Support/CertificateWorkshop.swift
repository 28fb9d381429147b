import Foundation

/// Makes certificates with the `openssl` command, so that what judges them isn't tested against itself. Everything lies in a
/// directory that goes with the workshop.
public final class CertificateWorkshop: Sendable {
    /// One certificate with its key, as files.
    public struct Issued: Sendable {
        /// PEM file of the certificate.
        public let certificateFile: String
        /// PEM file of the key.
        public let keyFile: String
        /// The certificate's PEM.
        public let certificate: [UInt8]
        /// The key's PEM.
        public let key: [UInt8]
    }

    /// Kinds of keys.
    public enum Key: Sendable {
        case p256, p384, p521, rsa(Int), ed25519

        var words: [String] {
            switch self {
            case .p256: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"]
            case .p384: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384"]
            case .p521: ["-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-521"]
            case .rsa(let bits): ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(bits)"]
            case .ed25519: ["-algorithm", "ED25519"]
            }
        }
    }

    /// What a device's certificate says, but for its names.
    public static let deviceExtensions = [
        "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature", "extendedKeyUsage=serverAuth",
    ]
    /// What an operator's certificate says, but for its name.
    public static let operatorExtensions = [
        "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature", "extendedKeyUsage=clientAuth",
    ]
    /// What a certificate authority says.
    public static let authorityExtensions = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign,cRLSign"]

    /// Where the files lie.
    public let directory: URL

    /// A workshop in a new directory.
    public init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    /// A self-signed certificate; a certificate authority unless other extensions are given.
    public func selfSigned(
        _ name: String, key: Key = .p256, extensions: [String] = CertificateWorkshop.authorityExtensions
    ) async throws -> Issued {
        let place = try newPlace()
        try await runCommand(["openssl", "genpkey"] + key.words + ["-out", place.path("key.pem")], mustSucceed: true)
        var words = ["openssl", "req", "-x509", "-new", "-key", place.path("key.pem"), "-subj", "/CN=\(name)", "-days", "3650"]
        words += ["-out", place.path("certificate.pem"), "-config", try place.write("req.cnf", "[req]\ndistinguished_name=d\n[d]\n")]
        for line in extensions { words += ["-addext", line] }
        try await runCommand(words, mustSucceed: true)
        return try issued(place)
    }

    /// A certificate issued by another. Times are written `YYYYMMDDHHMMSSZ`.
    public func issue(
        _ name: String, by issuer: Issued, key: Key = .p256, extensions: [String], names: [String] = [], serial: String = "1000",
        from start: String = "20260101000000Z", to end: String = "20360101000000Z", digest: String = "sha256"
    ) async throws -> Issued {
        let place = try newPlace()
        try await runCommand(["openssl", "genpkey"] + key.words + ["-out", place.path("key.pem")], mustSucceed: true)
        let request = try place.write("req.cnf", "[req]\ndistinguished_name=d\n[d]\n")
        try await runCommand(
            [
                "openssl", "req", "-new", "-key", place.path("key.pem"), "-subj", "/CN=\(name)", "-out", place.path("request.pem"),
                "-config",
                request,
            ], mustSucceed: true)
        let lines = extensions + (names.isEmpty ? [] : ["subjectAltName=" + names.joined(separator: ",")])
        _ = try place.write("serial", serial + "\n")
        _ = try place.write("index.txt", "")
        try await runCommand(
            [
                "openssl", "ca", "-batch", "-notext", "-config", try place.write("ca.cnf", authorityConfiguration(place, digest)), "-cert",
                issuer.certificateFile, "-keyfile", issuer.keyFile, "-in", place.path("request.pem"), "-out", place.path("certificate.pem"),
                "-startdate", start, "-enddate", end, "-extfile", try place.write("extensions.cnf", lines.joined(separator: "\n") + "\n"),
            ], mustSucceed: true)
        return try issued(place)
    }

    /// A revocation list with those serials (hex, an even number of digits), in PEM.
    public func revocationList(
        by issuer: Issued, serials: [String], from start: String = "20260101000000Z", to end: String = "20360101000000Z"
    ) async throws -> [UInt8] {
        let place = try newPlace()
        let rows = serials.map { "R\t360101000000Z\t260201000000Z\t\($0)\tunknown\t/CN=revoked\n" }
        _ = try place.write("index.txt", rows.joined())
        try await runCommand(
            [
                "openssl", "ca", "-gencrl", "-config", try place.write("ca.cnf", authorityConfiguration(place, "sha256")), "-cert",
                issuer.certificateFile, "-keyfile", issuer.keyFile, "-out", place.path("list.pem"), "-crl_lastupdate", start,
                "-crl_nextupdate", end,
            ], mustSucceed: true)
        return try place.read("list.pem")
    }

    /// A file with that content, for commands that want one.
    public func file(_ content: [UInt8]) throws -> String {
        let path = directory.appending(path: UUID().uuidString + ".pem").path
        try Data(content).write(to: URL(fileURLWithPath: path))
        return path
    }

    private func authorityConfiguration(_ place: Place, _ digest: String) -> String {
        """
        [ca]
        default_ca=authority
        [authority]
        new_certs_dir=\(place.directory.path)
        database=\(place.path("index.txt"))
        serial=\(place.path("serial"))
        default_md=\(digest)
        policy=policy
        unique_subject=no
        [policy]
        commonName=supplied
        """
    }

    private func issued(_ place: Place) throws -> Issued {
        Issued(
            certificateFile: place.path("certificate.pem"), keyFile: place.path("key.pem"), certificate: try place.read("certificate.pem"),
            key: try place.read("key.pem"))
    }

    private func newPlace() throws -> Place {
        let place = Place(directory: directory.appending(path: UUID().uuidString))
        try FileManager.default.createDirectory(at: place.directory, withIntermediateDirectories: true)
        return place
    }
}

/// One certificate's own directory: `openssl ca` keeps a database, and two at once would disturb each other.
private struct Place {
    let directory: URL

    func path(_ name: String) -> String { directory.appending(path: name).path }

    func write(_ name: String, _ text: String) throws -> String {
        try Data(text.utf8).write(to: directory.appending(path: name))
        return path(name)
    }

    func read(_ name: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: directory.appending(path: name))) }
}
