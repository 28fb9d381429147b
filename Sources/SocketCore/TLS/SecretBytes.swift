import COpenSSL
import Synchronization

/// Bytes of a private key: never printed, never compared, and overwritten when the last reference goes.
public final class SecretBytes: Sendable, CustomStringConvertible {
    private let bytes: Mutex<[UInt8]>

    /// Takes the bytes over. Whoever made them must keep no copy.
    public init(_ bytes: consuming [UInt8]) { self.bytes = Mutex(bytes) }

    deinit {
        bytes.withLock { bytes in
            bytes.withUnsafeMutableBytes { OPENSSL_cleanse($0.baseAddress, $0.count) }
        }
    }

    /// Says nothing of the content.
    public var description: String { "(secret)" }

    /// Lends the bytes, which mustn't be copied.
    func withBytes<Result: Sendable>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        bytes.withLock { $0.withUnsafeBytes { body($0) } }
    }
}
