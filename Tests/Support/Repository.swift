import Foundation

/// The working copy that the tests were built from.
public enum Repository {
    /// Its top folder.
    public static var root: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    }

    /// The absolute path of a file in it.
    public static func path(_ relative: String) -> String { root.appending(path: relative).path }
}
