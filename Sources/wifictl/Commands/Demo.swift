/// `demo`: the whole story on this machine.
extension Command {
    private static let routerCount = DefaultedOption(
        "routers", "N", .integer(in: 4...200), default: 5, shown: "5", "how many routers to simulate")
    private static let seed = DefaultedOption("seed", "N", .integer(in: 0...Int.max), default: 1, shown: "1", "where the dice start")

    static let demo = Command(
        name: "demo", summary: "shows the whole story on this machine, without network or root",
        discussion: """
            Simulated routers run on this machine's loopback: a company's, a neighbour's and a stranger's. They are discovered, one is \
            matched by its BSSID, all are asked to prove whose they are, a session is opened with one that can, messages go over a link \
            that loses receipts, and the session moves to another router. Exit status 0 only if every step held.
            """,
        options: [routerCount, seed], usesNetwork: false,
        examples: [Example("wifictl demo", "a line a step, in a few seconds")]
    ) { arguments, context in
        let story = DemoStory(
            network: try DemoNetwork(count: arguments[routerCount], seed: UInt64(arguments[seed])), output: context.output)
        guard try await story.run() else {
            throw ToolError("a step of the demonstration didn't hold", hint: "run it again with --verbose --json")
        }
        return .success
    }
}
