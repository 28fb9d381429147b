import SocketCore
import WifiDiscovery

/// `switch ROUTER`: the current session moves.
extension Command {
    private static let span = DefaultedOption(
        "for", "TIME", .duration, default: Duration.seconds(3), shown: "3s", "how long to look for the router where it isn't known")

    static let switchRouter = Command(
        name: "switch", summary: "moves the current session to another router", positionals: ["ROUTER"],
        discussion: """
            The new router is probed, connected and greeted while the session with the current one stands; only then the old one is \
            drained and closed. When any step fails, the current router stays the current one. Messages that the old router hasn't \
            receipted stay in its outbox until it is current again.
            """,
        options: [span, SessionTool.alone] + SessionTool.framing + TrustOptions.talking, isForAgent: SessionTool.isForAgent,
        examples: [Example("wifictl switch 02:00:5e:00:53:02", "from the current router to this one")]
    ) { arguments, context in
        let reference = try arguments.required(0, "ROUTER")
        let look = arguments[span]
        let output = context.output
        let old = try RouterDirectory(home: context.home).load().current
        let fresh = try SessionTool.manager(arguments, context) { $0.scanTime = look }
        let manner = try SessionTool.manner(fresh, arguments)
        var manager = fresh
        if let old, let held = await context.pool?.manager(of: old, manner) {
            manager = held
        } else if let old, try !isNamed(reference, old, context) {
            // The old session may be gone for good: that's no reason to stay with it. What isn't that router's fault, such as a full disk,
            // keeps us from every other one as well.
            do { try await manager.connect(to: "current") } catch {
                guard error is ManagerError || error is OutboxJournalError else { throw error }
                output.remark("the current router isn't reached, so there's no session to keep: \(error)")
            }
        }
        return try await SessionTool.ending(manager, context) { [manager] in
            let connection = try await manager.switch(to: reference) { tell($0, output) }
            await context.pool?.moved(manager, from: old, to: connection, manner)
            await SessionTool.stopTelling(of: connection, await SessionTool.tell(of: connection, context))
            show(connection.mac, from: old, output)
            return .success
        }
    }

    /// Whether the router that is named is that one: then there's no other session to keep.
    private static func isNamed(_ reference: String, _ mac: MACAddress, _ context: Context) throws -> Bool {
        guard case .found(let known) = try RouterDirectory(home: context.home).load().find(RouterReference(reference)) else { return false }
        return known.router.mac == mac
    }

    private static func show(_ mac: MACAddress, from old: MACAddress?, _ output: Output) {
        if output.isJSON {
            output.json("switched", ["mac": .string("\(mac)"), "from": .text(old.map { "\($0)" })])
        } else {
            output.line("\(mac) is the current router now\(old.map { $0 == mac ? " (it was before)" : ", in place of \($0)" } ?? "")")
        }
    }

    private static func tell(_ action: SwitchCore.Action, _ output: Output) {
        switch action {
        case .probe(let target): output.detail("probing \(target.mac) at \(target.probe)")
        case .open(let target): output.detail("it answers; opening a session at \(target.session)")
        case .adopt(let target): output.detail("the session with \(target.mac) stands")
        case .abandon(let target): output.detail("giving up the session with \(target.mac)")
        case .drainOld(let mac): output.detail("draining the session with \(mac)")
        case .closeOld(let mac): output.detail("closing the session with \(mac)")
        }
    }
}
