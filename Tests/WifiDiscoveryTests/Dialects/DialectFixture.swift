import Foundation
import SocketCore

@testable import WifiDiscovery

/// Golden datagrams, put together from the formats' public descriptions by a program of its own.
enum DialectFixture {
    static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Fixtures/dialects")

    static let router = Endpoint(.v4(192, 0, 2, 1), port: 40_000)
    static let mac = MACAddress(0, 0, 0x5E, 0, 0x53, 1)

    static func file(_ name: String) throws -> [UInt8] { Array(try Data(contentsOf: folder.appendingPathComponent(name))) }

    /// Hex text, with lines of remarks.
    static func datagram(_ name: String) throws -> [UInt8] {
        let lines = String(decoding: try file(name + ".hex"), as: UTF8.self).split(separator: "\n").filter { !$0.hasPrefix("#") }
        let digits = lines.joined().utf8.compactMap { UInt8(String(UnicodeScalar($0)), radix: 16) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }

    /// All of them, by name.
    static func all() throws -> [String: [UInt8]] {
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".hex") }
        return try Dictionary(uniqueKeysWithValues: names.map { (String($0.dropLast(4)), try datagram(String($0.dropLast(4)))) })
    }

    static func bent(_ bytes: [UInt8], _ generator: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...6, using: &generator) where !bytes.isEmpty {
            let at = Int.random(in: 0..<bytes.count, using: &generator)
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes.removeSubrange(at..<min(bytes.count, at + Int.random(in: 1...8, using: &generator)))
            case 2: bytes.insert(contentsOf: bytes[..<min(at, 32)], at: at)
            default: bytes[at] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
        }
        return bytes
    }
}
