/// The ten bytes before every body (protocol.md, section 1).
///
///     offset  size  field
///     0       4     msgId
///     4       2     version
///     6       4     length of the body in bytes; the header itself isn't counted
public struct FrameHeader: Equatable, Hashable, Sendable, BitwiseCopyable {
    /// Bytes that a header takes on the wire, in every layout.
    public static let byteCount = 10

    /// Chosen by the sender, one sequence a direction. 0 means "no receipt wanted".
    public var msgId: UInt32
    /// The protocol version that the sender speaks in this frame, 1...65535.
    public var version: UInt16
    /// Body bytes that follow the header.
    public var bodyLength: Int

    /// A header; nothing is checked here: that is the decoder's and the encoder's work.
    @inlinable
    public init(msgId: UInt32, version: UInt16, bodyLength: Int) {
        self.msgId = msgId
        self.version = version
        self.bodyLength = bodyLength
    }

    /// Header and body together, in bytes.
    @inlinable
    public var frameByteCount: Int { FrameHeader.byteCount + bodyLength }

    @usableFromInline
    enum Offset {
        @usableFromInline static let msgId = 0
        @usableFromInline static let version = 4
        @usableFromInline static let length = 6
    }
}
