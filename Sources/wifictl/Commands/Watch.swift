/// `watch [ROUTER]`: what is there and what happens, live.
extension Command {
    static let watchRouters = Command(
        name: "watch", summary: "shows routers, and a session's news, live", positionals: ["[ROUTER]"],
        discussion: """
            On a terminal a screen: the routers with their grades, verdicts and round trips, the one that you are connected to marked \
            with *, what happened below. With ROUTER its session as well: state, what was counted, and the properties that the router \
            reports. The keys are shown by ?: among them s makes the chosen router the current one (the old session is kept until the \
            new one stands), v verifies it, d shows everything that is known of it, and q quits. Where there is no terminal, or with \
            --json, a line for each thing that happens, until Ctrl-C. Changes that come fast are shown together.
            """,
        options: [ScanOptions.bssid] + SessionTool.framing + TrustOptions.talking, interruption: .asksCommand,
        examples: [
            Example("wifictl watch", "the routers around"),
            Example("wifictl watch Attic", "with a session, and what that router reports"),
            Example("wifictl watch Attic --json | jq .", "a JSON line for each thing that happens"),
        ]
    ) { arguments, context in
        let plan = try WatchPlan(arguments, context)
        ReaderWatch.start(context.output, context.cancellation)
        guard !context.output.isJSON, TerminalScreen.isPossible else { return await WatchLines(plan).run() }
        return await WatchRun(plan).run()
    }
}
