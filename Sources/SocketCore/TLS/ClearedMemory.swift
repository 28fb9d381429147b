import COpenSSL
import Glibc

/// Makes OpenSSL overwrite whatever memory it frees.
///
/// By itself it overwrites keys in the places that its authors thought of: 3.0 leaves the traffic secrets of a closed connection, and
/// numbers of a private key that it has read, in freed memory until something else is written there by chance.
enum ClearedMemory {
    /// Whether it does so in this process. False when something else in the process has used OpenSSL before this library did: what it has
    /// allocated by then could not be told from ours. Asking is what turns it on, so it's asked before any other call.
    static let isOn =
        CRYPTO_set_mem_functions(nil, { memory, size, _, _ in reallocate(memory, size) }, { memory, _, _ in release(memory) }) == 1

    private static func release(_ memory: UnsafeMutableRawPointer?) {
        guard let memory else { return }
        OPENSSL_cleanse(memory, copenssl_allocated_size(memory))
        free(memory)
    }

    /// realloc may move a block, and would leave what was in it.
    private static func reallocate(_ memory: UnsafeMutableRawPointer?, _ size: Int) -> UnsafeMutableRawPointer? {
        guard let memory else { return malloc(size) }
        guard size > 0 else {
            release(memory)
            return nil
        }
        guard let new = malloc(size) else { return nil }
        new.copyMemory(from: memory, byteCount: min(size, copenssl_allocated_size(memory)))
        release(memory)
        return new
    }
}
