/// All commands, in the order in which the help lists them.
enum CommandRegistry {
    static let toolName = "wifictl"
    static let toolVersion = "0.1.0"
    /// Of the version, for the manual page.
    static let toolDate = "2026-11-30"

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
