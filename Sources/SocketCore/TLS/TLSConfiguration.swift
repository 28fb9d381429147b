/// Who we are in a TLS connection: our certificate, what lies between it and the root, and its key.
public struct TLSIdentity: Sendable {
    /// Certificates in PEM, our own first.
    public let certificates: [UInt8]
    /// The private key in PEM, not encrypted.
    public let key: SecretBytes
    /// What errors call the two.
    let names: (certificates: String, key: String)

    /// An identity out of memory.
    public init(certificates: [UInt8], key: SecretBytes) {
        self.certificates = certificates
        self.key = key
        names = ("the own certificate", "the own key")
    }

    /// An identity out of two PEM files.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` when a file can't be read. What is in them is looked at by ``TLSContext``.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        certificates = try TLSFile.read(certificateFile)
        key = SecretBytes(try TLSFile.read(keyFile))
        names = (certificateFile, keyFile)
    }
}

/// Everything that decides about TLS connections of one kind. A value: nothing is opened or checked before a ``TLSContext`` is made of it.
public struct TLSConfiguration: Sendable {
    /// Which side of the connection.
    public enum Role: Sendable {
        /// The controller's side.
        case client
        /// The router's side. With `requiresPeer`, nobody is admitted without a certificate that `judge` admits.
        case server(requiresPeer: Bool)
    }

    /// A file's content, with the name that errors call it.
    public struct NamedBytes: Sendable {
        /// The name.
        public let name: String
        /// PEM or DER.
        public let bytes: [UInt8]
        /// Of a file of revocation lists, with all copies of this value.
        private let parsed = ParsedLists()

        /// Content out of memory.
        public init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }

        /// The content of a file.
        ///
        /// - Throws: ``TLSError/configuration(_:)``.
        public init(file: String) throws(TLSError) {
            name = file
            bytes = try TLSFile.read(file)
        }

        /// - Throws: ``TLSError/configuration(_:)``.
        func revocationLists() throws(TLSError) -> [RevocationList] { try parsed.of(self) }
    }

    /// Judges the peer; nil admits it. Called in the handshake, and again for each resumed session. The client's side calls it
    /// once the peer has proven that the key is its own and before anything of ours is shown; the server's side before the key is
    /// proven, so that the peer is told with an alert, and the handshake ends if that proof fails.
    public typealias Judge = @Sendable (PeerEvidence) -> TLSError?

    /// Which side.
    public var role: Role
    /// Who we are; a server needs one.
    public var identity: TLSIdentity?
    /// Where the peer's chain may end: self-signed roots or intermediates.
    public var roots: [NamedBytes]
    /// Revocation lists by the peers' issuers.
    public var revocationLists: [NamedBytes]
    /// See ``Judge``.
    public var judge: Judge

    /// A configuration as given.
    public init(
        role: Role, identity: TLSIdentity? = nil, roots: [NamedBytes] = [], revocationLists: [NamedBytes] = [], judge: @escaping Judge
    ) {
        self.role = role
        self.identity = identity
        self.roots = roots
        self.revocationLists = revocationLists
        self.judge = judge
    }
}
