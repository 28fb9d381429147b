import Glibc
import SocketCore

/// A command's way to the agent: the command line goes there, and what the agent prints for it is printed here.
enum AgentClient {
    /// Has the agent of this state directory run the command.
    ///
    /// - Returns: nil when there is no agent, or none that takes the command: it's run here then.
    static func run(_ words: [String], home: String, _ output: Output, _ cancellation: CancellationSignal) async -> ExitStatus? {
        let link: LocalLink
        do throws(SystemError) {
            guard let found = try await connect(home) else { return nil }
            link = found
        } catch {
            output.warning("the agent isn't used: \(error)")
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

    /// Asks the agent of this state directory to end, of whatever version it is, and returns when it's gone.
    ///
    /// - Returns: false when there is none.
    /// - Throws: `ToolError` when it can't be reached.
    static func stop(home: String, _ output: Output, _ cancellation: CancellationSignal) async throws -> Bool {
        let link: LocalLink
        do throws(SystemError) {
            guard let found = try await connect(home) else { return false }
            link = found
        } catch { throw ToolError("the agent can't be reached: \(error)") }
        let key = cancellation.onRaise { Task { await link.close() } }
        defer { cancellation.forget(key) }
        link.post(AgentWire.Kind.stop.rawValue)
        // An agent that dies while it ends has ended too, so that what ends the link is all the same.
        while let frames = await link.next() {
            for frame in frames {
                switch AgentWire.Kind(rawValue: frame.msgId) {
                case .remarks: output.remarks(frame.body)
                case .status: await link.close()
                default: break
                }
            }
        }
        return true
    }

    /// Nil where no agent listens.
    private static func connect(_ home: String) async throws(SystemError) -> LocalLink? {
        do throws(SystemError) { return try await LocalLink.connect(to: AgentWire.path(home: home)) } catch {
            guard error.code == ENOENT || error.code == ECONNREFUSED else { throw error }
            return nil
        }
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
                case .request, .begin, .interrupt, .stop, nil: break
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
