import COpenSSL
import Synchronization

/// One certificate revocation list (RFC 5280, section 5) as OpenSSL holds it. Nothing changes it, and what OpenSSL does with it behind that
/// (it sorts the entries when it's first asked for one) it does under a lock: so one serves the connections of all threads.
final class RevocationList: Sendable {
    /// What one list says of one certificate.
    enum Answer {
        case listed(since: WallTime)
        case notListed
    }

    /// Issuers whose answer is remembered: peers can show any, and each costs a signature over the whole list.
    private static let mostRememberedIssuers = 64

    private let address: UInt
    /// Whether it's made by an issuer, by the fingerprint of the issuer's certificate.
    private let makers = Mutex<[[UInt8]: Bool]>([:])
    /// The second after which a newer list should be there; nil when the list doesn't say.
    let nextUpdate: WallTime?
    /// Only changes to another list: it can list a certificate, but not clear one.
    let isDelta: Bool

    /// OpenSSL's list.
    var handle: OpaquePointer { OpaquePointer(bitPattern: address).unsafelyUnwrapped }

    init(owning handle: OpaquePointer) {
        address = UInt(bitPattern: handle)
        nextUpdate = WallTime(reading: X509_CRL_get0_nextUpdate(handle))
        isDelta = X509_CRL_get_ext_by_NID(handle, NID_delta_crl, -1) >= 0
    }

    deinit { X509_CRL_free(handle) }

    /// Reads all lists of a PEM file, or the one of a DER file.
    ///
    /// - Throws: ``TLSError/configuration(_:)``.
    static func all(in bytes: [UInt8], of name: String) throws(TLSError) -> [RevocationList] {
        LibraryErrors.clear()
        let isPEM = MemoryReader.isPEM(bytes)
        let found = bytes.withUnsafeBytes { raw in
            MemoryReader.reading(raw) { source -> [RevocationList] in
                guard isPEM else {
                    guard let only = d2i_X509_CRL_bio(source, nil).map(RevocationList.init(owning:)) else { return [] }
                    // What stands behind it would go unread, and with it perhaps who else is revoked.
                    return BIO_ctrl_pending(source) == 0 ? [only] : []
                }
                var found: [RevocationList] = []
                while let next = PEM_read_bio_X509_CRL(source, nil, nil, nil) { found.append(RevocationList(owning: next)) }
                return found
            }
        }
        let errors = LibraryErrors.take().filter { !($0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE) }
        guard let found, !found.isEmpty, errors.isEmpty else {
            throw .configuration(
                "\(name) holds no revocation list that can be read: it must be a PEM file with BEGIN X509 CRL, or a single list in DER")
        }
        return found
    }

    /// Whether `issuer`, whose certificate has that fingerprint, made this list: the name, the right to sign lists, and the signature.
    func isMade(by issuer: OpaquePointer, fingerprint: [UInt8]) -> Bool {
        if let known = makers.withLock({ $0[fingerprint] }) { return known }
        let isMade = isSigned(by: issuer)
        LibraryErrors.clear()
        guard !fingerprint.isEmpty else { return isMade }
        makers.withLock { makers in
            if makers.count >= RevocationList.mostRememberedIssuers { makers.removeAll() }
            makers[fingerprint] = isMade
        }
        return isMade
    }

    /// The same, found out anew.
    func isSigned(by issuer: OpaquePointer) -> Bool {
        guard X509_NAME_cmp(X509_CRL_get_issuer(handle), X509_get_subject_name(issuer)) == 0 else { return false }
        // All ones: the issuer's certificate doesn't restrict its key.
        let usage = X509_get_key_usage(issuer)
        guard usage == .max || usage & UInt32(KU_CRL_SIGN) != 0, let key = X509_get0_pubkey(issuer) else { return false }
        return X509_CRL_verify(handle, key) == 1
    }

    /// Whether an entry has that serial, in lower-case hex without leading zeros.
    func lists(serial: String) -> Bool { entries.contains { $0.serial == serial } }

    /// Who made it, for display only.
    var issuer: String { CertificateFacts.display(X509_CRL_get_issuer(handle)) }

    /// How many entries it has.
    var count: Int { Int(max(0, copenssl_revoked_count(X509_CRL_get_REVOKED(handle)))) }

    /// All entries, in the list's order.
    var entries: [(serial: String, since: WallTime)] {
        let stack = X509_CRL_get_REVOKED(handle)
        return (0..<Int32(count)).compactMap { index in
            guard let entry = copenssl_revoked_at(stack, index) else { return nil }
            let since = WallTime(reading: X509_REVOKED_get0_revocationDate(entry)) ?? WallTime(seconds: 0)
            return (CertificateFacts.hex(X509_REVOKED_get0_serialNumber(entry)), since)
        }
    }

    func answer(for certificate: OpaquePointer) -> Answer {
        var entry: OpaquePointer?
        guard X509_CRL_get0_by_cert(handle, &entry, certificate) == 1, let entry else { return .notListed }
        return .listed(since: WallTime(reading: X509_REVOKED_get0_revocationDate(entry)) ?? WallTime(seconds: 0))
    }
}

/// A file's lists, read once and again when the file has changed: a company's largest takes a second to read and a hundred bytes an entry,
/// and connections by the dozen are judged by it.
final class CurrentLists: Sendable {
    /// What the file says, and how often it was found to say something else.
    struct Reading {
        var lists: [RevocationList]
        var edition: Int
    }

    private struct State {
        var reading: Reading?
        var stamp: TLSFile.Stamp?
    }

    private let path: String?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - path: the file; nil for lists that come from none, and so never change.
    ///   - stamp: the file's, taken before its content was read for the first time.
    init(path: String? = nil, stamp: TLSFile.Stamp? = nil) {
        self.path = path
        state = Mutex(State(stamp: stamp))
    }

    /// The lists as they were read for the first time, or as they are by now.
    ///
    /// - Throws: ``TLSError/configuration(_:)``.
    func load(_ file: TLSConfiguration.NamedBytes) throws(TLSError) -> Reading {
        try state.withLock { (state) throws(TLSError) in
            if let known = state.reading { return known }
            let read = Reading(lists: try RevocationList.all(in: file.bytes, of: file.name), edition: 0)
            state.reading = read
            return read
        }
    }

    /// The lists as they are now. A file that can't be read any more, or holds none, is told once, and what it said before goes on counting:
    /// nobody who was revoked comes back by it.
    func refresh(_ onRemark: (String) -> Void) -> Reading {
        let (reading, remark) = state.withLock { state -> (Reading, String?) in
            var reading = state.reading ?? Reading(lists: [], edition: 0)
            guard let path else { return (reading, nil) }
            // Taken before the content: who writes meanwhile is noticed at the next look.
            let stamp = TLSFile.stamp(path)
            guard stamp != state.stamp else { return (reading, nil) }
            state.stamp = stamp
            do {
                reading.lists = try RevocationList.all(in: try TLSFile.read(path), of: path)
                reading.edition += 1
                state.reading = reading
                return (reading, "\(path) has changed: certificates revoked by it now: \(reading.lists.map(\.count).reduce(0, +))")
            } catch {
                return (reading, "\(path) has changed and can't be used, so it counts as it was before: \(error)")
            }
        }
        if let remark { onRemark(remark) }
        return reading
    }
}
