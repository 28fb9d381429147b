/// Whether bytes that should be frames are TLS: by the head of a record.
enum TLSSpeech {
    /// An alert or a handshake record of any version of TLS, which no header of a hello begins with: its id is 0.
    static func begins(_ bytes: [UInt8]) -> Bool {
        guard bytes.count >= 3 else { return false }
        let isRecord = bytes[0] == 0x15 || bytes[0] == 0x16
        return isRecord && bytes[1] == 0x03 && bytes[2] <= 0x04
    }
}
