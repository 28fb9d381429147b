import COpenSSL

/// The network as OpenSSL sees it: what it reads is lent by the caller of ``TLSEngine/feed(_:deliver:)`` for that call alone, what it
/// writes gathers here. Nothing is kept of either once it's consumed, so that an idle connection costs no buffers.
final class TLSWire {
    private var input = UnsafeRawBufferPointer(start: nil, count: 0)
    private var output: [UInt8] = []
    private var taken = 0
    private var isDraining = false

    /// Bytes written and not yet taken.
    var pendingCount: Int { output.count - taken }

    /// Lends `bytes` for the duration of `body`.
    func lending<Result>(_ bytes: UnsafeRawBufferPointer, _ body: () throws(TLSError) -> Result) throws(TLSError) -> Result {
        input = bytes
        defer { input = UnsafeRawBufferPointer(start: nil, count: 0) }
        return try body()
    }

    /// Offers all pending bytes; `send` says how many of them it took. What is written in the meantime (a goodbye, when sending finds the
    /// connection broken) waits for the next time.
    func drain(_ send: (RawSpan) -> Int) {
        guard pendingCount > 0, !isDraining else { return }
        isDraining = true
        defer { isDraining = false }
        let bytes = output
        let offered = bytes.count - taken
        let count = bytes.withUnsafeBytes { send(UnsafeRawBufferPointer(rebasing: $0[taken...]).bytes) }
        taken += max(0, min(count, offered))
        if taken == output.count {
            output = []
            taken = 0
        }
    }

    fileprivate func read(into target: UnsafeMutableRawBufferPointer) -> Int {
        let count = min(target.count, input.count)
        target.copyMemory(from: UnsafeRawBufferPointer(rebasing: input[..<count]))
        input = UnsafeRawBufferPointer(rebasing: input[count...])
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) {
        if !isDraining, taken > 0, taken * 2 >= output.count {
            output.removeFirst(taken)
            taken = 0
        }
        output += bytes
    }

    /// A BIO over this wire, which must outlive it.
    ///
    /// - Throws: ``TLSError/libraryFailure(_:)``.
    func makeBIO() throws(TLSError) -> OpaquePointer {
        guard let method = TLSWire.method.pointer, let bio = BIO_new(method) else { throw .libraryFailure(LibraryErrors.words()) }
        BIO_set_data(bio, Unmanaged.passUnretained(self).toOpaque())
        BIO_set_init(bio, 1)
        return bio
    }

    private static func of(_ bio: OpaquePointer?) -> TLSWire? {
        BIO_get_data(bio).map { Unmanaged<TLSWire>.fromOpaque($0).takeUnretainedValue() }
    }

    /// One for the process, made once and never freed; as a number, since it's the same for all threads.
    private struct Method: Sendable {
        private let address: UInt
        var pointer: OpaquePointer? { OpaquePointer(bitPattern: address) }

        init() {
            guard let method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "wire") else {
                address = 0
                return
            }
            BIO_meth_set_read(method) { bio, target, length in
                guard let wire = TLSWire.of(bio), length > 0 else { return 0 }
                copenssl_bio_clear_retry(bio)
                let count = wire.read(into: UnsafeMutableRawBufferPointer(start: target, count: Int(length)))
                if count == 0 {
                    copenssl_bio_set_retry_read(bio)
                    return -1
                }
                return Int32(count)
            }
            BIO_meth_set_write(method) { bio, source, length in
                guard let wire = TLSWire.of(bio), length > 0 else { return 0 }
                copenssl_bio_clear_retry(bio)
                wire.write(UnsafeRawBufferPointer(start: source, count: Int(length)))
                return length
            }
            // Flushing is all that's asked of it.
            BIO_meth_set_ctrl(method) { _, command, _, _ in command == BIO_CTRL_FLUSH ? 1 : 0 }
            address = UInt(bitPattern: method)
        }
    }

    private static let method = Method()
}
