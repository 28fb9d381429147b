import FrameCodec

/// Writes headers that no encoder would: any four bytes may stand where the length belongs.
enum HeaderWriter {
    /// Appends ten bytes; `lengthField` holds the length's four as they go out, the first in the top octet.
    static func append(msgId: UInt32, version: UInt16, lengthField: UInt32, _ layout: FrameLayout, to bytes: inout [UInt8]) {
        let isLittle = layout == .littleEndian
        withUnsafeBytes(of: isLittle ? msgId.littleEndian : msgId.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: isLittle ? version.littleEndian : version.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: lengthField.bigEndian) { bytes.append(contentsOf: $0) }
    }
}
