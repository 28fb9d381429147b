import Foundation
import Glibc

/// One text file of the project.
struct ProjectFile {
    /// Relative to the project's root, with slashes.
    let path: String
    let source: String
    /// Swift's code and comments told apart, once for all rules; empty for other files.
    let text: SwiftText

    init(path: String, source: String) {
        self.path = path
        self.source = source
        text = SwiftText(path.hasSuffix(".swift") ? source : "")
    }

    /// Whether these bytes are anywhere in it: libc's search, for most files hold nothing of what most rules look for.
    func mentions(_ text: String) -> Bool {
        source.withCString { start in
            // It ends its search at a zero, of which a file may hold some.
            var part = start
            while part <= start + source.utf8.count {
                if strstr(part, text) != nil { return true }
                part += strlen(part) + 1
            }
            return false
        }
    }

    var isSwift: Bool { path.hasSuffix(".swift") }
    var isSource: Bool { path.hasPrefix("Sources/") && isSwift }
    var isTest: Bool { path.hasPrefix("Tests/") && isSwift }
    /// The target that a source file belongs to.
    var target: String { isSource ? path.split(separator: "/").dropFirst().first.map(String.init) ?? "" : "" }
    /// A core decides and touches nothing of the system: all of FrameCodec, and every target's Core folder.
    var isCore: Bool { target == "FrameCodec" || (isSource && path.split(separator: "/").dropFirst(2).dropLast().contains("Core")) }
}

/// Something that breaks a house rule.
struct Violation: Equatable, CustomStringConvertible {
    let path: String
    let line: Int
    let message: String

    var description: String { "\(path):\(line): \(message)" }
}

enum Project {
    /// Made by builds and runs, or git's own.
    private static let skipped: Set<String> = [".build", ".git", "dist", "fuzz-artifacts"]

    static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }

    /// Every file that is text.
    static func files() throws -> [ProjectFile] {
        var files: [ProjectFile] = []
        try collect("", into: &files)
        return files
    }

    private static func collect(_ folder: String, into files: inout [ProjectFile]) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path).sorted() {
            if folder.isEmpty, skipped.contains(name) { continue }
            let path = folder.isEmpty ? name : folder + "/" + name
            let url = root.appending(path: path)
            let values = try url.resourceValues(forKeys: [.isDirectoryKey, .isSymbolicLinkKey])
            if values.isDirectory == true, values.isSymbolicLink != true {
                try collect(path, into: &files)
            } else if let source = String(validating: try Data(contentsOf: url), as: UTF8.self) {
                files.append(ProjectFile(path: path, source: source))
            }
        }
    }
}
