import FrameCodec
import SocketCore
import WifiDiscovery

/// What must hold of every parser of strangers' bytes, for any bytes at all: it comes back, and what it accepts it would accept
/// again as it writes it. Each property answers a complaint, or nil.
///
/// The libFuzzer targets in Tests/Fuzz and the regression tests over Fixtures/fuzz both call these.
enum ParserProperties {
    /// By name, as the folders in Fixtures/fuzz and the targets are called.
    static let all: [(name: String, check: @Sendable ([UInt8]) -> String?)] = [
        ("decoder", decoder), ("json", json), ("hello", hello), ("discovery", discovery), ("mac", mac),
    ]

    /// Layout, limit, versions and cuts are taken from the first three bytes, the stream is the rest.
    @Sendable
    static func decoder(_ bytes: [UInt8]) -> String? {
        guard bytes.count >= 3 else { return nil }
        let layouts = FrameLayout.allCases
        let limits = [0, 1, 16, 255, 4_096, 9_999, 65_536, 1 << 20]
        var fuzzCase = FuzzCase(
            layout: layouts[Int(bytes[0] & 0x0F) % layouts.count],
            limits: FrameLimits(maximumBodyLength: limits[Int(bytes[1] & 7)], versions: bytes[1] & 8 == 0 ? 1...UInt16.max : 1...1),
            bytes: Array(bytes.dropFirst(3)))
        let step = Int(bytes[2])
        if step > 0 { fuzzCase.cuts = Array(stride(from: step, to: fuzzCase.bytes.count, by: step)) }
        let judge = CaseJudge { FrameDecoder(layout: $0, limits: $1) }
        return judge.judge(fuzzCase).map { "\($0.kind.rawValue) (\($0.drive.rawValue)): \($0.detail)" }
    }

    @Sendable
    static func json(_ bytes: [UInt8]) -> String? {
        guard let value = try? JSONValue.parse(bytes) else { return nil }
        let written = value.encoded()
        guard let again = try? JSONValue.parse(written) else { return "what was read can't be read again as \(text(written))" }
        return again == value ? nil : "read again as \(text(written)) it's another value"
    }

    @Sendable
    static func hello(_ bytes: [UInt8]) -> String? {
        if let hello = try? ControllerHello(bytes.span.bytes) {
            // Control characters take more bytes written than read, so that the longest hellos may not come back.
            let written = hello.encoded()
            if written.count <= bytes.count, (try? ControllerHello(written.span.bytes)) != hello { return "controller: \(text(written))" }
        }
        if let hello = try? RouterHello(bytes.span.bytes) {
            let written = hello.encoded()
            if written.count <= bytes.count, (try? RouterHello(written.span.bytes)) != hello { return "router: \(text(written))" }
        }
        return nil
    }

    @Sendable
    static func discovery(_ bytes: [UInt8]) -> String? {
        guard let datagram = try? DiscoveryDatagram.parse(bytes.span.bytes) else { return nil }
        let written = datagram.encoded()
        guard written.count <= DiscoveryDatagram.maximumByteCount else { return "\(written.count) bytes written" }
        // A reply sheds what doesn't fit, so that only what is no longer than it was must come back whole.
        guard let again = try? DiscoveryDatagram.parse(written.span.bytes) else {
            return "can't be read again: \(text(written))"
        }
        guard written.count <= min(bytes.count, ReplyEncoder.maximumByteCount) else { return nil }
        return again == datagram ? nil : "read again it's another datagram: \(text(written))"
    }

    @Sendable
    static func mac(_ bytes: [UInt8]) -> String? {
        let given = text(bytes)
        if let address = MACAddress(given), MACAddress(address.description) != address { return "\(address) isn't read again" }
        if let bssid = (try? MACAddress.bssid(parsing: given)) ?? nil, MACAddress(bssid.description) != bssid {
            return "BSSID \(bssid) isn't read again"
        }
        return nil
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
}
