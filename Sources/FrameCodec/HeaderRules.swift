/// How a header is read and judged, in one small value that fits into registers.
@usableFromInline
struct HeaderRules: Equatable, BitwiseCopyable, Sendable {
    @usableFromInline let layout: FrameLayout
    @usableFromInline let lowestVersion: UInt16
    @usableFromInline let highestVersion: UInt16
    /// The largest body that is accepted: the configured limit, or less where the layout or the machine's `Int` can't say more.
    @usableFromInline let bodyLimit: UInt32

    init(layout: FrameLayout, limits: FrameLimits) {
        self.layout = layout
        lowestVersion = limits.versions.lowerBound
        highestVersion = limits.versions.upperBound
        bodyLimit = UInt32(clamping: min(limits.maximumBodyLength, layout.maximumExpressibleLength))
    }

    /// Reads the header at `bytes`, which points at ten readable bytes; nil when it ends the stream, for the reason that
    /// ``complaint(about:)`` gives.
    @inlinable @inline(__always)
    func header(at bytes: UnsafeRawPointer) -> FrameHeader? {
        let identity = layout.readIdentity(bytes)
        let length = layout.readLength(bytes)
        guard identity.version >= lowestVersion, identity.version <= highestVersion, length <= bodyLimit else { return nil }
        return FrameHeader(msgId: identity.msgId, version: identity.version, bodyLength: Int(truncatingIfNeeded: length))
    }

    /// Why a header was refused; the checks in the protocol's order: version, form of the length, size of the length.
    @usableFromInline @inline(never)
    func complaint(about bytes: UnsafeRawPointer) -> FrameError {
        let identity = layout.readIdentity(bytes)
        guard identity.version >= lowestVersion, identity.version <= highestVersion else {
            return .unsupportedVersion(version: identity.version)
        }
        let length = layout.readLength(bytes)
        if layout == .asciiLength, length == FrameLayout.noLength { return .malformedLength(field: FrameLayout.lengthField(bytes)) }
        return .bodyTooLarge(declared: Int(clamping: length), limit: Int(bodyLimit))
    }
}
