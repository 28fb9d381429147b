import SocketCore

/// A client's and a server's engine that talk through memory, on one thread.
public final class EnginePair {
    /// The controller's side.
    public let client: TLSEngine
    /// The router's side.
    public let server: TLSEngine
    /// Plaintext that has come to the client.
    public private(set) var toClient: [UInt8] = []
    /// Plaintext that has come to the server.
    public private(set) var toServer: [UInt8] = []
    /// The client's first error.
    public private(set) var clientError: TLSError?
    /// The server's first error.
    public private(set) var serverError: TLSError?
    /// At most this many bytes cross at a time.
    public var piece = Int.max

    /// A pair of which the client has spoken first, into memory.
    public init(client: TLSContext, server: TLSContext, resuming session: TLSSession? = nil) throws(TLSError) {
        self.client = try TLSEngine(client, resuming: session)
        self.server = try TLSEngine(server)
        try self.client.start()
    }

    /// Carries bytes to and fro until nobody has more to say.
    public func settle() {
        while client.pendingCount + server.pendingCount > 0 {
            carry(from: client, to: server, &toServer, &serverError)
            carry(from: server, to: client, &toClient, &clientError)
        }
    }

    private func carry(from sender: TLSEngine, to receiver: TLSEngine, _ plaintext: inout [UInt8], _ error: inout TLSError?) {
        var bytes: [UInt8] = []
        sender.drain { span in
            bytes = span.bytes
            return span.byteCount
        }
        var rest = bytes[...]
        while !rest.isEmpty, receiver.state != .ended {
            let part = Array(rest.prefix(piece))
            rest = rest.dropFirst(part.count)
            do throws(TLSError) {
                try receiver.feed(part.span.bytes) { plaintext += $0.bytes }
            } catch let failure {
                error = error ?? failure
            }
        }
    }
}

extension RawSpan {
    /// A copy.
    public var bytes: [UInt8] { withUnsafeBytes { [UInt8]($0) } }
}

extension TLSEngine {
    /// Encrypts the bytes.
    public func write(_ bytes: [UInt8]) throws(TLSError) { try write(bytes.span.bytes) }

    /// Takes everything that waits to be sent.
    public func takePending() -> [UInt8] {
        var bytes: [UInt8] = []
        drain { span in
            bytes = span.bytes
            return span.byteCount
        }
        return bytes
    }
}
