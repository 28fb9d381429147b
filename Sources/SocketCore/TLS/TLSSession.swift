import COpenSSL

/// A session that a client may take up again, with its ticket. Kept by the client for the router it came from; of use once.
public final class TLSSession {
    let handle: OpaquePointer

    /// Takes over one reference.
    init(owning handle: OpaquePointer) { self.handle = handle }

    deinit { SSL_SESSION_free(handle) }

    /// Whether a ticket came with it.
    public var isResumable: Bool { SSL_SESSION_is_resumable(handle) == 1 }
}
