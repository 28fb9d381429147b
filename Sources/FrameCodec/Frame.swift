/// One frame that owns its body. Costs an allocation: for the hot path see ``FrameView`` and
/// ``FrameDecoder/decode(_:_:)``.
public struct Frame: Equatable, Hashable, Sendable {
    /// See ``FrameHeader/msgId``.
    public var msgId: UInt32
    /// See ``FrameHeader/version``.
    public var version: UInt16
    /// The body's bytes, without the header.
    public var body: [UInt8]

    /// A frame of the given parts.
    public init(msgId: UInt32, version: UInt16 = 1, body: [UInt8] = []) {
        self.msgId = msgId
        self.version = version
        self.body = body
    }

    /// Copies a header and the body that was lent with it.
    public init(_ header: FrameHeader, _ body: RawSpan) {
        self.init(msgId: header.msgId, version: header.version, body: body.withUnsafeBytes { [UInt8]($0) })
    }

    /// The header that stands before this body.
    public var header: FrameHeader { FrameHeader(msgId: msgId, version: version, bodyLength: body.count) }
}

/// A frame lent out of a decoder's buffer: valid until the decoder is next touched, which the compiler enforces.
public struct FrameView: ~Escapable {
    /// The frame's header.
    public let header: FrameHeader
    /// The body's bytes, in the decoder's buffer.
    public let body: RawSpan

    @usableFromInline @_lifetime(copy body)
    init(header: FrameHeader, body: RawSpan) {
        self.header = header
        self.body = body
    }

    /// A copy that may be kept.
    public func copy() -> Frame { Frame(header, body) }
}
