import Foundation

/// Files in the package's Fixtures folder.
enum Fixture {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")

    /// Each line of a hex file as bytes.
    static func hexLines(_ name: String) throws -> [[UInt8]] {
        let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
        return text.split(separator: "\n").map { line in
            stride(from: 0, to: line.utf8.count, by: 2).compactMap { offset in
                let start = line.utf8.index(line.utf8.startIndex, offsetBy: offset)
                return UInt8(line[start...].prefix(2), radix: 16)
            }
        }
    }
}
