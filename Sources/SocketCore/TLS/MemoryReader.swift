import COpenSSL

/// OpenSSL's view of bytes in memory, and bytes out of what OpenSSL writes.
enum MemoryReader {
    /// Lends a source that reads `bytes`; nil when there's no memory for it.
    static func reading<Result>(_ bytes: UnsafeRawBufferPointer, _ body: (OpaquePointer) -> Result) -> Result? {
        guard let count = Int32(exactly: bytes.count), let source = BIO_new_mem_buf(bytes.baseAddress, count) else { return nil }
        defer { BIO_free(source) }
        return body(source)
    }

    /// What `body` writes; nil when it says that it failed.
    static func written(_ body: (OpaquePointer) -> Bool) -> [UInt8]? {
        guard let target = BIO_new(BIO_s_mem()) else { return nil }
        defer { BIO_free(target) }
        guard body(target) else { return nil }
        var start: UnsafeMutablePointer<CChar>?
        let count = copenssl_bio_memory(target, &start)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: max(0, count)))
    }

    /// An object's DER by one of the `i2d_…` functions, which are called twice: for the length, then for the bytes.
    static func encoded(_ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32) -> [UInt8]? {
        let count = encode(nil)
        guard count > 0 else { return nil }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, written in
            var cursor = buffer.baseAddress
            written = max(0, Int(encode(&cursor)))
        }
    }

    /// SHA-256 of `bytes`.
    static func sha256(_ bytes: [UInt8]) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        guard EVP_Digest(bytes, bytes.count, &digest, &length, EVP_sha256(), nil) == 1 else { return [] }
        return digest
    }

    /// Whether the bytes are in PEM's armour rather than bare DER.
    static func isPEM(_ bytes: [UInt8]) -> Bool {
        let mark = Array("-----BEGIN ".utf8)
        guard bytes.count >= mark.count else { return false }
        return bytes.first == mark[0] ? bytes.starts(with: mark) || bytes.containsSequence(mark) : bytes.containsSequence(mark)
    }
}

extension [UInt8] {
    fileprivate func containsSequence(_ wanted: [UInt8]) -> Bool {
        guard count >= wanted.count else { return false }
        return indices.dropLast(wanted.count - 1).contains { self[$0..<($0 + wanted.count)].elementsEqual(wanted) }
    }
}
