import SocketCore

@testable import WifiDiscovery

/// Replies by the thousand that differ in their MAC alone: encoded once, since without optimisation that takes longer than what is tested.
struct ForgedReplies {
    private var bytes: [UInt8]
    private let macAt: Int

    init(_ router: RouterDescription, nonce: HexToken, msgId: UInt32, limit: Int = ReplyEncoder.maximumByteCount) {
        let encoded = ReplyEncoder.encode(router, msgId: msgId, nonce: nonce, limit: limit) ?? []
        let text = Array("\(router.mac)".utf8)
        macAt = encoded.indices.first { encoded[$0...].starts(with: text) } ?? encoded.count
        bytes = encoded
    }

    /// The reply of the router with that MAC.
    mutating func reply(_ mac: MACAddress) -> [UInt8] {
        var (rest, at) = (mac.bits, macAt + 16)
        for _ in 0..<6 {
            for _ in 0..<2 {
                let digit = UInt8(truncatingIfNeeded: rest & 15)
                bytes[at] = digit + (digit < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10)
                rest >>= 4
                at -= 1
            }
            at -= 1
        }
        return bytes
    }
}
