/// All commands, in the order in which the help lists them.
enum CommandRegistry {
    static let toolName = "wifictl"
    static let toolVersion = "0.1.0"
    /// Of the version, for the manual page.
    static let toolDate = "2026-11-30"

    /// What the commands that share a first word are for.
    static let families = [
        "identity": "makes and shows certificates, for tests and small fleets",
        "trust": "says whom all commands trust: company roots, revocation lists, routers' keys",
        "agent": "keeps sessions open between commands",
    ]

    static let commands: [Command] = [
        .demo,
        .discover, .watchRouters, .routers, .verify, .report,
        .send, .get, .set, .read, .switchRouter,
        .router,
        .frames,
        .encode,
        .fuzz,
        .conform,
        .dissector,
        .doctor,
        .bench,
        .identityNewCompany, .identityIssueDevice, .identityIssueOperator, .identityRevoke, .identityShow,
        .trustAdd, .trustList, .trustRemove, .trustPin, .trustUnpin,
        .agentStart, .agentRun, .agentStop, .agentStatus,
        .config, .completions, .manual,
    ]
}
