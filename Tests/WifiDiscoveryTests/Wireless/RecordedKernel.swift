import Foundation

@testable import WifiDiscovery

/// Where the recorded replies lie.
enum Recordings {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures/nl80211")

    /// All situations with a reading of the link.
    static let situations = [
        "ap2-5ghz", "crowd", "disconnected", "down", "guest-bssid", "no-nl80211", "no-wifi", "odd-names", "open", "roam/after",
        "roam/before",
        "two-stations", "wpa2", "wpa3",
    ]

    static func text(_ path: String) throws -> String {
        try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
    }

    /// A line of hex a datagram.
    static func datagrams(_ path: String) throws -> [[UInt8]] {
        try text(path).split(separator: "\n").map { line in
            let digits = line.utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
    }
}

/// A kernel that gives the recorded replies of one situation, and only to the very requests that they were recorded for.
struct RecordedKernel: WirelessKernel {
    var answers: [[UInt8]: [[UInt8]]] = [:]
    var accessPoints: [String: MACAddress] = [:]
    var names: [(index: UInt32, name: String)] = []
    var isSwitchedOff: Bool

    init(_ situation: String) throws {
        isSwitchedOff = situation == "down"
        let files = try FileManager.default.contentsOfDirectory(atPath: Recordings.folder.appendingPathComponent(situation).path)
        for file in files where file.hasSuffix(".request.hex") && !file.hasPrefix("rtm") {
            let request = try Recordings.datagrams("\(situation)/\(file)")[0]
            let reply = try Recordings.datagrams("\(situation)/\(file.replacingOccurrences(of: ".request.", with: ".reply."))")
            answers[RecordedKernel.unnumbered(request)] = reply
        }
        for line in try Recordings.text("\(situation)/probe.txt").split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "SIOCGIWAP", let address = words.last?.split(separator: "=").last.flatMap({ MACAddress(String($0)) }) {
                accessPoints[String(words[1])] = address
            }
        }
    }

    /// The request with its sequence number zeroed.
    private static func unnumbered(_ request: [UInt8]) -> [UInt8] { request[..<8] + [0, 0, 0, 0] + request[12...] }

    func ask(_ request: NetlinkRequest) -> KernelAnswer {
        guard let recorded = answers[RecordedKernel.unnumbered(request.bytes)] else { return .refused(95) }
        var reply = NetlinkReply(to: request)
        for datagram in recorded {
            guard reply.take(RecordedKernel.renumbered(datagram, request.sequence)) else { break }
        }
        if case .refused(let code) = reply.ending { return .refused(code) }
        return .messages(reply.messages)
    }

    /// The datagram with each message's sequence number replaced by the one asked with.
    static func renumbered(_ datagram: [UInt8], _ sequence: UInt32) -> [UInt8] {
        var copy = datagram
        var start = 0
        while let length = datagram[start...].native(UInt32.self, at: 0), length >= 16, Int(length) <= datagram.count - start {
            withUnsafeBytes(of: sequence) { copy.replaceSubrange(start + 8..<start + 12, with: $0) }
            start = min(datagram.count, start + NetlinkAttributes.aligned(Int(length)))
        }
        return copy
    }

    func interfaces() -> [(index: UInt32, name: String)] { names }
    func isUp(_ name: String) -> Bool? { !isSwitchedOff }
    func accessPoint(_ name: String) -> MACAddress? { accessPoints[name] }
}
