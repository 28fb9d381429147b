import SocketCore
import WifiDiscovery

/// `discover`: which routers are there, and which one this machine is connected to.
extension Command {
    private static let time = DefaultedOption(
        "for", "TIME", .duration, default: .seconds(3), shown: "3s", "how long to look; with --watch, until Ctrl-C when not given")
    private static let to = RepeatedOption("to", "ADDR", .place, "ask this address instead of everybody on the network")
    private static let watch = Flag("watch", "go on looking, and print what changes")

    private static let untilMatch = Flag(
        "until-match", "end as soon as the router that is the access point has answered; the exit status is 1 when none has")

    private static let verifies = Flag(
        "verify", "ask each router to prove whose it is; goes without saying once a company root is configured")

    static let discover = Command(
        name: "discover", summary: "finds routers, and tells which one you are connected to",
        discussion: """
            Asks on all networks of this machine which routers are there, grades each answer by how its addresses relate to the \
            access point, and chooses where that can be told. What is found is kept, so that other commands know it by name \
            (see wifictl routers); once a company root is configured, that are the company's routers.
            With --dialect, routers of other makers are asked as well: ssdp (UPnP), mdns (DNS-SD), mndp (MikroTik) and ubnt \
            (Ubiquiti). A device that answers in several is one row; listed is what calls itself a router or access point, and the \
            gateway. It is chosen only where no native router is.
            With --watch, interfaces may go and come, and when Wi-Fi moves to another access point all routers are graded anew.
            Grades, best first: exact (its MAC is the access point's), radio (one of its BSSIDs is), family (its addresses look \
            like the access point's, a guess), vendor (the same maker), none, and unknown (no access point is known).
            It looks for the whole time even when the access point's router has answered, since the others are to be listed too, and \
            whoever else claims to be it. --until-match ends at that answer, one round trip after the start.
            Once a company root is configured, each router is asked for proof, and only the company's are chosen; a watch asks nobody, \
            and chooses and keeps none then, and --until-match looks for the whole time, since the first who claims to be the one needn't be it. \
            The exit status is 0 when a router was found, and 1 when none was.
            """,
        options: [time, ScanOptions.bssid, to, ScanOptions.dialect, watch, untilMatch, verifies] + TrustOptions.judging + [
            FrameOptions.layout
        ],
        interruption: .asksCommand,
        examples: [
            Example("wifictl discover", "looks for 3 seconds"),
            Example("wifictl discover --bssid 02:00:5e:00:53:11 --json", "a JSON line a router, then the choice and a summary"),
            Example("wifictl discover --until-match --json", "for scripts: which router am I connected to, in a few milliseconds"),
            Example("wifictl discover --to 192.168.1.1", "asks one router where the network passes no multicast"),
            Example("wifictl discover --dialect all", "routers of other makers as well"),
            Example("wifictl discover --verify --root company-root.pem", "with a verdict on each (see wifictl verify)"),
            Example("wifictl discover --watch", "shows routers as they come and go"),
        ]
    ) { arguments, context in
        guard !arguments[watch] || !arguments[verifies] else {
            throw UsageError("--watch and --verify don't go together", hint: "wifictl verify asks for proof at any time")
        }
        if arguments[untilMatch] {
            guard !arguments[watch] else { throw UsageError("--watch and --until-match don't go together", hint: "a watch has no end") }
            guard arguments[ScanOptions.dialect].contains(.native) else {
                throw UsageError("--until-match needs the native dialect", hint: "other makers' routers don't tell their radios")
            }
        }
        // A file that can't be read ends it here: without the root, everybody would be a candidate.
        let trust = try TrustOptions.routerTrust(arguments, context)
        var settings = try options(arguments, context)
        settings.endsAtMatch = arguments[untilMatch] && !trust.hasRoot
        let run = try ScanOptions.naming { [settings] in
            try DiscoverRun(
                settings, dialects: Set(arguments[ScanOptions.dialect]),
                trust: arguments[verifies] || trust.hasRoot ? trust : nil, SessionTool.inquiry(arguments),
                station: arguments[TrustOptions.station], context)
        }
        do {
            guard arguments[watch] else {
                return try await run.scan(for: arguments[time], wantsMatch: arguments[untilMatch], context.cancellation)
            }
            return try await run.watch(for: arguments.isGiven(time) ? arguments[time] : nil, context.cancellation)
        } catch DiscoveryError.nothingToScan(let reasons) {
            return run.nothingToScan(reasons)
        }
    }

    private static func options(_ arguments: Arguments, _ context: Context) throws -> RouterDiscovery.Options {
        var options = try ScanOptions.discovery(arguments, context)
        options.targets = arguments[to].map { Endpoint($0.address, port: $0.port ?? options.port) }
        return options
    }
}
