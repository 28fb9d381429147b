import COpenSSL

/// One X.509 certificate as OpenSSL holds it. Confined to the thread that made it; what others need are its ``facts``.
public final class Certificate {
    /// How many certificates one file may hold: a chain or a set of roots, not a browser's whole store.
    public static let mostInFile = 64

    let handle: OpaquePointer

    /// Takes over one reference.
    init(owning handle: OpaquePointer) { self.handle = handle }

    /// Adds a reference of its own.
    init(sharing handle: OpaquePointer) {
        X509_up_ref(handle)
        self.handle = handle
    }

    deinit { X509_free(handle) }

    /// Reads all certificates of a PEM file, or the one of a DER file.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - name: what the error calls the file.
    /// - Throws: ``TLSError/configuration(_:)`` when there are none, more than ``mostInFile``, or one is broken.
    public static func all(in bytes: [UInt8], of name: String) throws(TLSError) -> [Certificate] {
        LibraryErrors.clear()
        guard MemoryReader.isPEM(bytes) else { return [try Certificate(der: bytes, of: name)] }
        let found = bytes.withUnsafeBytes { raw in
            MemoryReader.reading(raw) { source -> [Certificate] in
                var found: [Certificate] = []
                while found.count <= mostInFile, let next = PEM_read_bio_X509(source, nil, nil, nil) {
                    found.append(Certificate(owning: next))
                }
                return found
            }
        }
        // The reader ends with the error that no further certificate begins; any other is a broken one.
        let errors = LibraryErrors.take()
        let isBroken = errors.contains { !($0.library == ERR_LIB_PEM && $0.reason == PEM_R_NO_START_LINE) }
        guard let found, !found.isEmpty || isBroken else {
            throw .configuration("\(name) holds no certificate: it must be a PEM file with BEGIN CERTIFICATE, or DER")
        }
        guard !isBroken else {
            throw .configuration(
                "\(name): certificate \(found.count + 1) is damaged: fetch the file anew (OpenSSL: \(errors[0].text))")
        }
        guard found.count <= mostInFile else { throw .configuration("\(name) holds more than \(mostInFile) certificates") }
        return found
    }

    /// Reads one certificate in DER.
    ///
    /// - Throws: ``TLSError/configuration(_:)``.
    public convenience init(der: [UInt8], of name: String) throws(TLSError) {
        LibraryErrors.clear()
        let handle = der.withUnsafeBufferPointer { buffer -> OpaquePointer? in
            var cursor = buffer.baseAddress
            guard let parsed = d2i_X509(nil, &cursor, buffer.count) else { return nil }
            guard cursor == buffer.baseAddress?.advanced(by: buffer.count) else {
                X509_free(parsed)
                return nil
            }
            return parsed
        }
        guard let handle else {
            throw .configuration("\(name) is no certificate: it must be PEM or DER (OpenSSL: \(LibraryErrors.words()))")
        }
        self.init(owning: handle)
    }

    /// The certificate in DER.
    public var der: [UInt8] { MemoryReader.encoded { i2d_X509(handle, $0) } ?? [] }

    /// The certificate in PEM.
    public var pem: [UInt8] { MemoryReader.written { PEM_write_bio_X509($0, handle) == 1 } ?? [] }

    /// What it says, read once.
    public private(set) lazy var facts = CertificateFacts(reading: handle)
}
