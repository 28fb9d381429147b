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
        let found = secret.withBytes { bytes -> UInt in
            UInt(bitPattern: MemoryReader.reading(bytes) { PrivateKey.read($0) } ?? nil)
        }
        guard let handle = OpaquePointer(bitPattern: found) else {
            throw .configuration(
                "\(name) holds no usable private key: it must be PEM and not encrypted (OpenSSL: \(LibraryErrors.words()))")
        }
        self.handle = handle
    }

    /// The first key of a PEM file. In two steps, since OpenSSL's one step leaves what is between them, the key in DER, in freed memory.
    private static func read(_ file: OpaquePointer) -> OpaquePointer? {
        // Without this, OpenSSL would ask at the terminal for the password of an encrypted key.
        let noPassword: @convention(c) (UnsafeMutablePointer<CChar>?, Int32, Int32, UnsafeMutableRawPointer?) -> Int32 = { _, _, _, _ in -1
        }
        var (bytes, count, name) = (UnsafeMutablePointer<UInt8>?.none, 0, UnsafeMutablePointer<CChar>?.none)
        guard PEM_bytes_read_bio_secmem(&bytes, &count, &name, PEM_STRING_EVP_PKEY, file, noPassword, nil) == 1 else { return nil }
        defer {
            CRYPTO_secure_clear_free(bytes, count, #file, #line)
            CRYPTO_secure_free(name, #file, #line)
        }
        var place = UnsafePointer(bytes)
        return d2i_AutoPrivateKey(nil, &place, count)
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
