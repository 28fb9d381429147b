/// Why a stream of frames can't go on, or why a frame can't be written (protocol.md, section 1).
///
/// From a decoder the fault is the peer's (or the configuration's: another layout, another limit); from an encoder
/// it's the caller's. A header has no magic number, so there's no way to find the next frame: the first error ends
/// the stream.
public enum FrameError: Error, Equatable, Sendable {
    /// The header names a version outside ``FrameLimits/versions``.
    case unsupportedVersion(version: UInt16)
    /// The four length bytes are no number in this layout; `field` holds them, the first in the top octet.
    case malformedLength(field: UInt32)
    /// The header declares more body bytes than ``FrameLimits/maximumBodyLength``; none of them was waited for.
    case bodyTooLarge(declared: Int, limit: Int)
    /// The stream ended inside a frame: `have` bytes of it were there and `need` were due (10 while the header was unfinished).
    case truncated(have: Int, need: Int)
    /// The caller's output has room for `have` more bytes and the frame needs `need`; nothing was written.
    case outputTooSmall(have: Int, need: Int)
}
