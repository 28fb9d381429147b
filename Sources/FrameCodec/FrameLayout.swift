/// How the header's numbers are written. Chosen by configuration, never guessed (protocol.md, section 1).
public enum FrameLayout: Equatable, Hashable, Sendable, CaseIterable, BitwiseCopyable {
    /// All three fields big-endian.
    case standard
    /// All three fields little-endian.
    case littleEndian
    /// msgId and version big-endian; the length four ASCII decimal digits, zero-padded when sent ("0016").
    case asciiLength

    /// The largest body that the length field can express and this machine's `Int` can count with its header, in bytes.
    public var maximumExpressibleLength: Int {
        self == .asciiLength ? 9_999 : min(Int(clamping: UInt32.max), Int.max - FrameHeader.byteCount)
    }
}

extension FrameLayout {
    /// Reads msgId and version; `bytes` points at 10 readable bytes of any alignment.
    @inlinable @inline(__always)
    func readIdentity(_ bytes: UnsafeRawPointer) -> (msgId: UInt32, version: UInt16) {
        let msgId = bytes.loadUnaligned(fromByteOffset: FrameHeader.Offset.msgId, as: UInt32.self)
        let version = bytes.loadUnaligned(fromByteOffset: FrameHeader.Offset.version, as: UInt16.self)
        return self == .littleEndian
            ? (UInt32(littleEndian: msgId), UInt16(littleEndian: version))
            : (UInt32(bigEndian: msgId), UInt16(bigEndian: version))
    }

    /// What ``readLength(_:)`` gives for four bytes that are no number: above every limit that `asciiLength` can have.
    @usableFromInline static let noLength = UInt32.max

    /// Reads the length field; ``noLength`` when its four bytes are no number, which only `asciiLength` knows.
    @inlinable @inline(__always)
    func readLength(_ bytes: UnsafeRawPointer) -> UInt32 {
        let field = bytes.loadUnaligned(fromByteOffset: FrameHeader.Offset.length, as: UInt32.self)
        switch self {
        case .standard: return UInt32(bigEndian: field)
        case .littleEndian: return UInt32(littleEndian: field)
        case .asciiLength: return FrameLayout.parseASCIILength(UInt32(bigEndian: field)) ?? FrameLayout.noLength
        }
    }

    /// The length field's four bytes as they stand, the first in the top octet: for error messages.
    static func lengthField(_ bytes: UnsafeRawPointer) -> UInt32 {
        UInt32(bigEndian: bytes.loadUnaligned(fromByteOffset: FrameHeader.Offset.length, as: UInt32.self))
    }

    /// Four ASCII bytes, the first in the top octet: spaces, then at least one digit, then spaces or NULs.
    @usableFromInline
    static func parseASCIILength(_ field: UInt32) -> UInt32? {
        var value: UInt32 = 0
        var digits = 0
        var ended = false
        for index in 0..<4 {
            let byte = UInt8(truncatingIfNeeded: field >> UInt32(24 - 8 * index))
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9") where !ended:
                value = value * 10 + UInt32(byte - UInt8(ascii: "0"))
                digits += 1
            case UInt8(ascii: " "):
                ended = digits > 0
            case 0 where digits > 0:
                ended = true
            default:
                return nil
            }
        }
        return digits > 0 ? value : nil
    }

    /// Writes the ten header bytes; the caller has checked that the length fits the layout.
    @inlinable @inline(__always)
    func write(_ header: FrameHeader, to bytes: UnsafeMutableRawPointer) {
        let length = UInt32(truncatingIfNeeded: header.bodyLength)
        switch self {
        case .standard:
            FrameLayout.store(header.msgId.bigEndian, header.version.bigEndian, length.bigEndian, to: bytes)
        case .littleEndian:
            FrameLayout.store(header.msgId.littleEndian, header.version.littleEndian, length.littleEndian, to: bytes)
        case .asciiLength:
            let field = FrameLayout.formatASCIILength(length)
            FrameLayout.store(header.msgId.bigEndian, header.version.bigEndian, field.bigEndian, to: bytes)
        }
    }

    @inlinable @inline(__always)
    static func store(_ msgId: UInt32, _ version: UInt16, _ length: UInt32, to bytes: UnsafeMutableRawPointer) {
        bytes.storeBytes(of: msgId, toByteOffset: FrameHeader.Offset.msgId, as: UInt32.self)
        bytes.storeBytes(of: version, toByteOffset: FrameHeader.Offset.version, as: UInt16.self)
        bytes.storeBytes(of: length, toByteOffset: FrameHeader.Offset.length, as: UInt32.self)
    }

    @usableFromInline
    static func formatASCIILength(_ length: UInt32) -> UInt32 {
        var rest = length
        var field: UInt32 = 0
        for index in 0..<4 {
            field |= (UInt32(UInt8(ascii: "0")) + rest % 10) << UInt32(8 * index)
            rest /= 10
        }
        return field
    }
}
