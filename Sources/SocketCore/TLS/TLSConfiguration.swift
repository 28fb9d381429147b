/// Who we are in a TLS connection: our certificate, what lies between it and the root, and its key.
public struct TLSIdentity: Sendable {
    /// Certificates in PEM, our own first.
    public let certificates: [UInt8]
    /// The private key in PEM, not encrypted.
    public let key: SecretBytes
    /// Every user of this machine can read the key's file, and so be who it stands for.
    public let isKeyOpenToAll: Bool
    /// What errors call the two.
    let names: (certificates: String, key: String)

    /// An identity out of memory.
    public init(certificates: [UInt8], key: SecretBytes) {
        self.certificates = certificates
        self.key = key
        isKeyOpenToAll = false
        names = ("the own certificate", "the own key")
    }

    /// An identity out of two PEM files.
    ///
    /// - Throws: ``TLSError/configuration(_:)`` when a file can't be read. What is in them is looked at by ``TLSContext``.
    public init(certificateFile: String, keyFile: String) throws(TLSError) {
        certificates = try TLSFile.read(certificateFile)
        key = SecretBytes(try TLSFile.read(keyFile))
        isKeyOpenToAll = TLSFile.isOpenToAll(keyFile)
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
        let lists: CurrentLists

        /// Content out of memory.
        public init(name: String, bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
            lists = CurrentLists()
        }

        /// The content of a file. As one of ``TLSConfiguration/revocationLists`` the file is looked at again for each connection.
        ///
        /// - Throws: ``TLSError/configuration(_:)``.
        public init(file: String) throws(TLSError) {
            name = file
            lists = CurrentLists(path: file, stamp: TLSFile.stamp(file))
            bytes = try TLSFile.read(file)
        }

        /// Who made the revocation lists in it that none of `roots` made: they count only for peers that send their issuer's certificate along,
        /// which is right for an issuer below a root, and useless for anybody else's list.
        ///
        /// - Parameter roots: certificates in PEM or DER.
        /// - Returns: the issuers' names, for display.
        /// - Throws: ``TLSError/configuration(_:)`` when lists or roots can't be read.
        public func listIssuers(notAmong roots: [NamedBytes]) throws(TLSError) -> [String] {
            var known: [Certificate] = []
            for root in roots { known += try Certificate.all(in: root.bytes, of: root.name) }
            let strays = try lists.load(self).lists.filter { list in
                !known.contains { list.isMade(by: $0.handle, fingerprint: $0.facts.fingerprint) }
            }
            return strays.map(\.issuer)
        }
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
    /// Revocation lists by the peers' issuers. Those that come from a file are read anew when the file has changed, so that who is revoked
    /// gets no further connection; one that stands goes on.
    public var revocationLists: [NamedBytes]
    /// Told when the file of a revocation list has changed, and whether it could be used; in the middle of a handshake.
    public var onRemark: @Sendable (String) -> Void = { _ in }
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
