import COpenSSL

/// A private key as OpenSSL holds it. OpenSSL overwrites it when it goes.
final class PrivateKey {
    let handle: OpaquePointer

    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { EVP_PKEY_free(handle) }

    /// Reads a PEM file (PKCS #8 or the older forms), not encrypted.
    ///
    /// - Throws: ``TLSError/configuration(_:)``; never with anything of the key in it.
    init(pem secret: SecretBytes, of name: String) throws(TLSError) {
        LibraryErrors.clear()
        // Without this, OpenSSL would ask at the terminal for the password of an encrypted key.
        let noPassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = { _, _, _, _ in -1
        }
        let found = secret.withBytes { bytes -> UInt in
            let key = MemoryReader.reading(bytes) { PEM_read_bio_PrivateKey($0, nil, noPassword, nil) }
            return UInt(bitPattern: key ?? nil)
        }
        guard let handle = OpaquePointer(bitPattern: found) else {
            throw .configuration("\(name) holds no usable private key (\(LibraryErrors.words())): it must be PEM and not encrypted")
        }
        self.handle = handle
    }

    /// Whether the certificate's public key is this key's.
    func belongs(to certificate: Certificate) -> Bool {
        defer { LibraryErrors.clear() }
        return X509_check_private_key(certificate.handle, handle) == 1
    }

    /// A new key on P-256.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    static func makeP256() throws(TLSError) -> PrivateKey {
        LibraryErrors.clear()
        guard let handle = copenssl_make_p256_key() else { throw .libraryFailure(LibraryErrors.words()) }
        return PrivateKey(owning: handle)
    }

    /// The key in PEM (PKCS #8), for writing to a private file.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    func pem() throws(TLSError) -> SecretBytes {
        guard let bytes = MemoryReader.written({ PEM_write_bio_PKCS8PrivateKey($0, handle, nil, nil, 0, nil, nil) == 1 }) else {
            throw .libraryFailure(LibraryErrors.words())
        }
        return SecretBytes(bytes)
    }
}
