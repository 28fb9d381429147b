import SocketCore
import WifiDiscovery

/// A small app against the manager, without delegates: connect, subscribe, command, switch, go to the background and come back.
///
///     example-app PORT BSSID OTHER-MAC STATE-DIRECTORY
///
/// It looks on this machine alone, for routers at that discovery port, and prints a line for each thing that happens.
@main
struct ExampleApp {
    let manager: RouterManager

    init(_ arguments: [String]) throws {
        guard arguments.count == 5, let port = UInt16(arguments[1]), let bssid = MACAddress(arguments[2]) else {
            throw Usage(description: "usage: example-app PORT BSSID OTHER-MAC STATE-DIRECTORY")
        }
        var options = RouterManager.Options()
        options.discovery.interfaces = ["lo"]
        options.discovery.port = port
        options.discovery.link = .addresses([bssid])
        options.home = arguments[4]
        manager = RouterManager(options)
    }

    static func main() async throws {
        let app = try ExampleApp(CommandLine.arguments)
        try await app.run(movingTo: CommandLine.arguments[3])
    }

    func run(movingTo other: String) async throws {
        // One task reads the news for as long as the app lives, whichever router is the current one.
        let news = manager.status([.properties, .sessions, .current], names: ["clients", "wifi.ssid"])
        let reader = Task { for await batch in news { for item in batch.items { say(item) } } }

        let router = try await manager.connect()
        say("connected to \(router.mac)")
        for listed in try await manager.routers { say("\(listed.name): \(listed.reason)") }

        try await router.set([.init("wifi.ssid", "Attic")])
        say("wifi.ssid is \(try await router.get("wifi.ssid").text)")
        do { try await router.set([.init("clients", 0)]) } catch { say("refused: \(error)") }

        let next = try await manager.switch(to: other)
        say("moved to \(next.mac)")

        await manager.suspend()
        say("in the background")
        let back = try await manager.resume()
        say("back with \(back?.mac.description ?? "nobody")")
        say("wifi.ssid is \(try await next.get("wifi.ssid").text)")

        let everywhere = try await manager.command(.get(names: ["led"]), to: .routers([router.mac, next.mac]))
        say("\(everywhere)")
        await manager.close()
        await reader.value
        say("done")
    }

    private func say(_ item: StatusItem) {
        switch (item.key.subject, item.value) {
        case (.property(let name), .property(let value)): say("news: \(name) of \(item.key.router) is \(value.text)")
        case (_, .session(.online)): say("news: \(item.key.router) is online")
        case (_, .current(true)): say("news: \(item.key.router) is the current router")
        default: break
        }
    }

    private func say(_ line: String) { print(line) }
}

private struct Usage: Error, CustomStringConvertible {
    let description: String
}
