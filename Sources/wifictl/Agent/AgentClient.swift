import Glibc
import SocketCore

/// A command's way to the agent: the command line goes there, and what the agent prints for it is printed here.
enum AgentClient {
    /// Has the agent of this state directory run the command.
    ///
    /// - Returns: nil when there is no agent, or none that takes the command: it's run here then.
    static func run(_ words: [String], home: String, _ output: Output, _ cancellation: CancellationSignal) async -> ExitStatus? {
        let path = AgentWire.path(home: home)
        let link: LocalLink
        do throws(SystemError) { link = try await LocalLink.connect(to: path) } catch {
            if error.code != ENOENT, error.code != ECONNREFUSED { output.warning("the agent isn't used: \(error)") }
            return nil
        }
        guard let directory = currentDirectory() else {
            output.warning("the agent isn't used: the current directory is gone")
            return nil
        }
        let request = AgentRequest(
            words: words, directory: directory, terminal: OutputTarget.standard.facts, environment: variables(directory))
        link.post(AgentWire.Kind.request.rawValue, request.encoded)
        link.post(AgentWire.Kind.begin.rawValue)
        let key = cancellation.onRaise { link.post(AgentWire.Kind.interrupt.rawValue) }
        defer { cancellation.forget(key) }
        return await follow(link, output)
    }

    /// Prints what comes until the command has ended.
    private static func follow(_ link: LocalLink, _ output: Output) async -> ExitStatus? {
        while let frames = await link.next() {
            for frame in frames {
                switch AgentWire.Kind(rawValue: frame.msgId) {
                case .data: output.bytes(frame.body)
                case .remarks: output.remarks(frame.body)
                case .status:
                    await link.close()
                    return Int32(String(decoding: frame.body, as: UTF8.self)).flatMap(ExitStatus.init) ?? .failure
                case .refusal:
                    await link.close()
                    output.warning("the agent isn't used: \(String(decoding: frame.body, as: UTF8.self))")
                    return nil
                case .request, .begin, .interrupt, nil: break
                }
            }
        }
        output.fail("the agent ended while it ran the command (what it had accepted is kept: run wifictl send to settle it)")
        return .failure
    }

    private static let fileVariable = "WIFICTL_CONFIG"

    /// What a command's settings may come from.
    private static func variables(_ directory: String) -> [String: String] {
        let names = Setting.all.map(\.variable) + [fileVariable, "XDG_CONFIG_HOME", "HOME"]
        var found: [String: String] = [:]
        for name in names { if let value = getenv(name) { found[name] = String(cString: value) } }
        if let file = found[fileVariable], !file.isEmpty, !file.hasPrefix("/") { found[fileVariable] = "\(directory)/\(file)" }
        return found
    }

    private static func currentDirectory() -> String? {
        guard let path = getcwd(nil, 0) else { return nil }
        defer { free(path) }
        return String(cString: path)
    }
}
