import Foundation
import Glibc

/// The tool as built beside the tests.
public enum BuiltTool {
    /// Where `wifictl` lies: in the folder of the test executable.
    public static var path: String { beside("wifictl") }

    /// Where another executable of this package lies.
    public static func beside(_ name: String) -> String {
        let own = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
        return URL(fileURLWithPath: own).deletingLastPathComponent().appending(path: name).path
    }

    /// Runs `wifictl` to its end with a state directory of its own, which is empty unless `home` names another.
    ///
    /// - Throws: ``CommandError``.
    public static func run(
        _ words: [String], input: [UInt8] = [], environment: [String: String] = [:], home: String? = nil,
        within limit: Duration = .seconds(60)
    ) async throws -> CommandResult {
        // Nor does what this user has configured count.
        let environment = environment.merging(["WIFICTL_CONFIG": "/dev/null"]) { own, _ in own }
        guard home == nil else {
            return try await runCommand(
                [path] + words, input: input, environment: environment.merging(["WIFICTL_HOME": home ?? ""]) { $1 }, within: limit)
        }
        let scratch = try TemporaryDirectory()
        return try await runCommand(
            [path] + words, input: input, environment: environment.merging(["WIFICTL_HOME": scratch.path]) { $1 }, within: limit)
    }
}

/// A directory that goes with the value that made it.
public final class TemporaryDirectory: Sendable {
    /// Its absolute path.
    public let path: String

    /// Makes it, empty and private.
    ///
    /// - Throws: the file manager's error.
    public init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "wifictl-test-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file inside.
    public func file(_ name: String) -> String { path + "/" + name }
}
