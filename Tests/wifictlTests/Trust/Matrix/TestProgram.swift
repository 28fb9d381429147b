import Foundation
import TestSupport
import Testing

/// Programs of others that tests run where they're installed, and say so where they aren't.
enum TestProgram {
    /// Whether a program of that name is on the search path.
    static func isThere(_ name: String) -> Bool {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
        return folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(name)") }
    }

    /// `openssl s_server`, on a port of its own choice.
    static func opensslServer(chain: String, key: String, _ options: [String]) async throws -> (ChildProcess, port: Int) {
        let words = ["openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", chain, "-cert_chain", chain, "-key", key, "-rev"]
        let child = try ChildProcess(words + options)
        let line = try await child.line("port", within: .seconds(60)) { $0.hasPrefix("ACCEPT 127.0.0.1:") }
        return (child, try #require(line.split(separator: ":").last.flatMap { Int($0) }))
    }

    /// `gnutls-serv`, which has to be told a port: another one where somebody took it meanwhile.
    static func gnutlsServer(chain: String, key: String, _ options: [String]) async throws -> (ChildProcess, port: Int) {
        for _ in 0..<8 {
            let port = try Loopback.freePort()
            let words = ["--echo", "-p", "\(port)", "--x509certfile", chain, "--x509keyfile", key, "--disable-client-cert"] + options
            // It speaks on its standard error.
            let child = try ChildProcess(["bash", "-c", #"exec gnutls-serv "$@" 2>&1"#, "gnutls-serv"] + words)
            let line = try? await child.line("listening", within: .seconds(60)) { $0.contains("listening") || $0.contains("rror") }
            if line?.contains("done") == true { return (child, port) }
        }
        throw CommandError.start(command: "gnutls-serv", reason: "no port")
    }

    /// A civil clock that stands still, for programs that are started with its environment.
    struct Clock {
        let folder: TemporaryDirectory
        let environment: [String: String]
    }

    /// A clock that shows that many seconds after the beginning of 1970.
    static func clock(stoppedAt seconds: Int) async throws -> Clock {
        let folder = try TemporaryDirectory()
        let (source, object) = (Repository.root.appending(path: "Fixtures/clock/stopped.c").path, folder.file("stopped.so"))
        try await runCommand(["cc", "-shared", "-fPIC", "-o", object, source], mustSucceed: true)
        return Clock(folder: folder, environment: ["LD_PRELOAD": object, "CLOCK_STOPPED_AT": "\(seconds)"])
    }
}
