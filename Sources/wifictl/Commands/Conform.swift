import FrameCodec
import SocketCore
import WifiDiscovery

/// `conform`: the protocol's checklist, held against a router.
extension Command {
    private static let quick = Flag("quick", "leave out the rules about time, which take 45 s together")
    private static let reboot = Flag("reboot", "also ask for a reboot, with what the vocabulary has for it")
    private static let changes = Flag("changes", "also set a property, to the value that it has")
    private static let list = Flag("list", "print the rules and ask nobody")
    private static let only = RepeatedOption("only", "RULE", .rule, "ask for this rule alone")
    private static let patience = DefaultedOption(
        "patience", "TIME", .duration, default: .seconds(3), shown: "3s", "how long the router may take to answer")
    private static let allowPublic = Flag("allow-public", "let ADDR be a public address")

    static let conform = Command(
        name: "conform", summary: "holds a router against the protocol's checklist", positionals: ["[ADDR[:PORT]]"],
        discussion: """
            Asks a router, by datagrams and over some dozens of connections, whether it keeps the rules of docs/protocol.md, \
            and prints pass, fail, miss (a should that isn't kept) or skipped for each, with its section and what the router did instead: discovery first, since later \
            rules rest on what was learned. Some rules are seen only \
            in a router that speaks the sample vocabulary, and some by hand alone: these are skipped, with the reason. Rules about time are \
            asked side by side and take 45 s (--quick leaves them out). Nothing on the device is changed unless --changes or --reboot say \
            so. A router that speaks TLS opens sessions to operators alone: without --identity and --key all that needs one is skipped. \
            The exit status is 1 when a rule that must hold doesn't.
            """,
        options: [quick, changes, reboot, only, list, patience, FrameOptions.layout, FrameOptions.limit, allowPublic]
            + TrustOptions.judging,
        examples: [
            Example("wifictl conform 192.168.1.1", "asks the router at its standard port"),
            Example("wifictl conform 127.0.0.1:19510 --quick", "asks a router on this machine, in a quarter of the time"),
            Example("wifictl conform 192.168.1.1 --only hello-keys --only resume", "asks for two rules again"),
            Example("wifictl conform --list", "prints the checklist"),
        ]
    ) { arguments, context in
        let wanted = arguments.isGiven(only) ? ConformRule.all.filter { arguments[only].contains($0) } : ConformRule.all
        if arguments[list] { return listed(wanted, context.output) }
        let target = try arguments.required(0, "ADDR[:PORT]", .session)
        try TargetFuzz.check(target, allowsPublic: arguments[allowPublic], why: "conform sends a router what it must refuse")
        var subject = ConformSubject()
        subject.layout = arguments[FrameOptions.layout]
        subject.limit = arguments[FrameOptions.limit]
        subject.patience = arguments[patience]
        subject.isPatient = !arguments[quick]
        subject.allowed = Set([(reboot, "--reboot"), (changes, "--changes")].filter { arguments[$0.0] }.map(\.1))
        let trust = try TrustOptions.routerTrust(arguments, context)
        return try await ConformRun(target: target, subject: subject, wanted: wanted, trust: trust, context: context).run()
    }

    private static func listed(_ rules: [ConformRule], _ output: Output) -> ExitStatus {
        for rule in rules {
            if output.isJSON {
                output.json(
                    "rule",
                    [
                        "id": .string(rule.id), "section": .whole(rule.section), "level": rule.isMust ? "must" : "should",
                        "rule": .string(rule.text),
                    ])
            } else {
                let head = rule.id + String(repeating: " ", count: max(1, 24 - rule.id.count)) + "\(rule.section)  "
                output.line(head + output.fitted(rule.line, behind: head.count))
            }
        }
        return .success
    }
}

extension ValueKind where Value == ConformRule {
    /// A rule by its id.
    static var rule: ValueKind {
        let ids = ConformRule.all.map(\.id)
        return ValueKind(words: ids) { (text) throws(ValueProblem) in
            if let rule = ConformRule.all.first(where: { $0.id == text }) { return rule }
            let near = Suggestion.nearest(to: text, among: ids)
            throw ValueProblem(
                "is no rule", hint: (near.map { "did you mean \($0)? " } ?? "") + "wifictl conform --list has all \(ids.count)")
        }
    }
}

extension ValueKind where Value == Endpoint {
    /// The same as ``endpoint``, with the protocol's own port where none is given.
    static var session: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard case .address(let address, nil) = RouterReference(text) else { return try endpoint.parse(text) }
            return Endpoint(address, port: DiscoveryDatagram.port)
        }
    }
}
