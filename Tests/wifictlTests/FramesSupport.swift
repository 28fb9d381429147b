import Foundation
import FrameCodec
import SocketCore
import TestSupport
import Testing

@testable import wifictl

/// The independent peer, which isn't part of this repository: `$WIFIPEER`, or where it lies beside a checkout.
enum IndependentPeer {
    static let remark: Comment = "the independent peer isn't here: set WIFIPEER to the path of wifipeer.py"

    static let path: String? = {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let beside = root.deletingLastPathComponent().appendingPathComponent("shared/peer/wifipeer.py").path
        return [ProcessInfo.processInfo.environment["WIFIPEER"], beside].compactMap { $0 }
            .first { FileManager.default.isReadableFile(atPath: $0) }
    }()
}

/// One stream with the way in which it is read.
struct StreamCase {
    let layout: FrameLayout
    let limit: Int
    let version: UInt16?
    let chunk: Int
    let bytes: [UInt8]

    static func name(of layout: FrameLayout) -> String {
        switch layout {
        case .standard: "standard"
        case .littleEndian: "littleEndian"
        case .asciiLength: "asciiLength"
        }
    }

    /// Options that both tools understand.
    var options: [String] {
        ["--layout", StreamCase.name(of: layout), "--limit", "\(limit)", "--chunk", "\(chunk)"]
            + (version.map { ["--version", "\($0)"] } ?? [])
    }

    /// A stream of frames, most often damaged somewhere: a flipped byte, a piece missing or doubled, a length at the limit's edge.
    init(_ dice: inout SeededGenerator) {
        layout = FrameLayout.allCases.randomElement(using: &dice) ?? .standard
        limit = [0, 1, 16, 100, 300, 9_999, 1_048_576].randomElement(using: &dice) ?? 16
        version = ([nil, nil, 1, 2, 258] as [UInt16?]).randomElement(using: &dice) ?? nil
        chunk = [1, 2, 3, 7, 10, 64, 1_000, 65_536].randomElement(using: &dice) ?? 1
        var stream: [UInt8] = []
        let encoder = FrameEncoder(layout: layout)
        for _ in 0..<Int.random(in: 0...6, using: &dice) {
            let length = [0, 0, 1, 16, limit, limit + 1, 99].randomElement(using: &dice) ?? 0
            let body = (0..<min(length, 400)).map { _ in UInt8.random(in: 0...255, using: &dice) }
            let versions: [UInt16] = [version ?? 1, 1, 1, 2]
            let id: UInt32 = dice.chance(0.3) ? 0 : .random(in: 0 ... .max, using: &dice)
            stream += (try? encoder.encode(Frame(msgId: id, version: versions.randomElement(using: &dice) ?? 1, body: body))) ?? []
        }
        bytes = StreamCase.damaged(stream, layout, &dice)
    }

    private static func damaged(_ stream: [UInt8], _ layout: FrameLayout, _ dice: inout SeededGenerator) -> [UInt8] {
        var stream = stream
        for _ in 0..<Int.random(in: 0...2, using: &dice) where !stream.isEmpty {
            let place = Int.random(in: 0..<stream.count, using: &dice)
            switch Int.random(in: 0..<5, using: &dice) {
            case 0: stream[place] = .random(in: 0...255, using: &dice)
            case 1: stream.removeSubrange(place...)
            case 2: stream.remove(at: place)
            case 3: stream.insert(contentsOf: stream[..<place].suffix(12), at: place)
            default:
                let fields: [[UInt8]] = [
                    [0, 0, 0, 0], Array("  16".utf8), Array("16 \0".utf8), Array("-001".utf8), Array(" 1 2".utf8), Array("    ".utf8),
                    [0x7F, 0xFF, 0xFF, 0xFF], [0x80, 0, 0, 0], [0xFF, 0xFF, 0xFF, 0xFF], [0xFF, 0xFF, 0xFF, 0xF6],
                ]
                if stream.count >= 10 { stream.replaceSubrange(6..<10, with: fields.randomElement(using: &dice) ?? fields[0]) }
            }
        }
        return stream
    }
}

extension TemporaryDirectory {
    /// Puts a file there and gives its path.
    func write(_ bytes: [UInt8], as name: String) throws -> String {
        try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
        return file(name)
    }
}
