import FrameCodec
import SocketCore
import WifiDiscovery

/// `router`: simulated routers on this machine.
extension Command {
    private static let mac = Option("mac", "M", .mac, "its MAC address; without it that of the first network interface")
    private static let bssid = RepeatedOption("bssid", "M", .mac, "the BSSID of one of its radios")
    private static let child = RepeatedOption("child", "M", .mac, "the MAC of an access point that hangs behind it")
    private static let station = RepeatedOption(
        "station", "M[@VIA]", .text, "a station that it sees; VIA is the radio, child access point or port behind which it sits")
    private static let ssid = Option("ssid", "S", .text, "its Wi-Fi name")
    private static let routerName = DefaultedOption("name", "S", .text, default: "Router", shown: "Router", "its name")
    private static let vendor = DefaultedOption("vendor", "S", .text, default: "Example", shown: "Example", "its manufacturer")
    private static let model = DefaultedOption("model", "S", .text, default: "Simulated", shown: "Simulated", "its model")
    private static let address = Option("address", "A", .address, "answer and listen on this address only")
    private static let tcp = Option(
        "tcp", "PORT", ValueKind<UInt16>.integer(), "TCP port for sessions, 0 for any; without it 19510, or any where that is taken")
    private static let count = DefaultedOption(
        "count", "N", ValueKind<Int>.integer(in: 1...RouterFleet.largestCount), default: 1, shown: "1",
        "run that many, with MACs, BSSIDs and TCP ports counted up")
    private static let plain = Flag("plain", "speak bare frames: no hello, no receipts, no heartbeats")
    private static let loseReceipts = DefaultedOption(
        "lose-receipts", "P", .probability, default: 0.0, shown: "0", "fault: the share of receipts that isn't sent")
    private static let loseReplies = DefaultedOption(
        "lose-replies", "P", .probability, default: 0.0, shown: "0", "fault: the share of probes' answers that isn't sent")
    private static let closeAfter = Option(
        "close-after", "N", ValueKind<Int>.integer(in: 1...Int.max), "fault: drop the connection after each N new messages")
    private static let replyDelay = Option("reply-delay", "TIME", .duration, "fault: answer probes that much later")
    private static let slowRead = Option("slow-read", "RATE", .rate, "fault: read at most that many bytes a second")
    private static let seed = Option("seed", "N", ValueKind<UInt64>.integer(), "where the dice of waits and faults start")

    static let router = Command(
        name: "router", summary: "runs a router on this machine, or many",
        discussion: """
            Answers probes, opens sessions and speaks the sample vocabulary, until Ctrl-C: then it says goodbye, and prints what \
            was counted. For tests, for demonstrations, and for those who write an app before the hardware is there.
            With --identity it speaks TLS 1.3 and admits only controllers with an operator certificate (see wifictl identity).
            """,
        options: [
            mac, bssid, child, station, ssid, routerName, vendor, model, address, tcp, count, FrameOptions.layout, plain, loseReceipts,
            loseReplies,
            closeAfter, replyDelay, slowRead, seed, TrustOptions.identity, TrustOptions.key, TrustOptions.clientRoot,
            TrustOptions.revocationList, TrustOptions.enterprise,
        ],
        interruption: .asksCommand, isService: true,
        examples: [
            Example("wifictl router --name Attic --bssid 02:00:5e:00:53:11", "a router with one radio on this machine's networks"),
            Example("wifictl router --interface lo --lose-receipts 0.2 --close-after 7", "one for this machine alone, with a bad link"),
            Example("wifictl router --interface lo --count 1000", "a thousand routers"),
            Example(
                "wifictl router --mac 02:00:5e:00:53:01 --identity fleet/devices/02005e005301.pem --key fleet/devices/02005e005301.key "
                    + "--client-root fleet/operator-root.pem", "one that proves who it is, and admits the company's operators only"),
        ]
    ) { arguments, context in
        SystemCalls.raiseDescriptorLimit()
        let fleet = try fleet(arguments, context)
        let log = RouterLog(context.output, isFleet: fleet.count > 1)
        var run = RouterRun(fleet, try responderOptions(arguments, context), log)
        do {
            try await run.start(context.cancellation)
        } catch {
            await run.end()
            throw error
        }
        await announce(run, context)
        ReaderWatch.start(context.output, context.cancellation)
        await context.cancellation.wait()
        context.output.clearProgress()
        await run.end()
        await run.report()
        return .success
    }

    private static func announce(_ run: RouterRun, _ context: Context) async {
        let interfaces = await run.responder.interfaceNames.joined(separator: ", ")
        let port = context.port ?? DiscoveryDatagram.port
        if run.fleet.count > 1, !context.output.isJSON {
            let last = run.fleet.mac.advanced(by: run.fleet.count - 1)
            context.output.line("\(run.fleet.count) routers  \(run.fleet.mac) to \(last)")
        }
        context.output.remark("answering probes on UDP \(port) on \(interfaces); Ctrl-C ends")
    }

    private static func fleet(_ arguments: Arguments, _ context: Context) throws -> RouterFleet {
        var fleet = RouterFleet(mac: try arguments[mac] ?? defaultMAC())
        fleet.bssids = arguments[bssid]
        fleet.children = arguments[child]
        fleet.session.stations = try stations(arguments[station], fleet)
        fleet.ssid = arguments[ssid]
        fleet.name = arguments[routerName]
        fleet.vendor = arguments[vendor]
        fleet.model = arguments[model]
        fleet.count = arguments[count]
        fleet.address = arguments[address]
        fleet.tcp = arguments[tcp]
        // 0 is any port, for each of them.
        if let tcp = fleet.tcp, tcp > 0, Int(tcp) + fleet.count - 1 > Int(UInt16.max) {
            throw UsageError(
                "--tcp \(tcp) with --count \(fleet.count): the ports end at \(UInt16.max)", hint: "begin lower, or --tcp 0 for any")
        }
        fleet.session.layout = arguments[FrameOptions.layout]
        fleet.session.isPlain = arguments[plain]
        fleet.replyFaults.loss = arguments[loseReplies]
        fleet.replyFaults.delay = arguments[replyDelay] ?? .zero
        fleet.linkFaults.lostReceipts = arguments[loseReceipts]
        fleet.linkFaults.readRate = arguments[slowRead]
        fleet.linkFaults.seed = arguments[seed] ?? UInt64.random(in: 0...UInt64.max)
        fleet.closeAfter = arguments[closeAfter]
        fleet.tls = try TrustOptions.routerConfiguration(arguments, context)
        if fleet.tls != nil, let certificate = arguments[TrustOptions.identity] {
            let macs = (0..<fleet.count).map { fleet.mac.advanced(by: $0) }
            let time = ClockFloor().judge(.systemNow())
            for remark in try OwnCertificate.remarks(certificate, of: macs, at: time) { context.output.warning(remark) }
        }
        return fleet
    }

    private static func stations(_ texts: [String], _ fleet: RouterFleet) throws(UsageError) -> [String: String] {
        var stations: [String: String] = [:]
        for text in texts {
            let parts = text.split(separator: "@", maxSplits: 1)
            guard let mac = parts.first.flatMap({ MACAddress(String($0)) }), mac.isUsableAsDevice else {
                throw UsageError("--station \(text) begins with no station's MAC", hint: "such as 02:00:5e:00:53:77@02:00:5e:00:53:11")
            }
            let via = parts.count > 1 ? String(parts[1]) : (fleet.bssids.first ?? fleet.mac).description
            stations[mac.description] = MACAddress(via)?.description ?? via
        }
        return stations
    }

    /// The machine's own, so that what a controller's neighbour table says agrees with it.
    private static func defaultMAC() throws -> MACAddress {
        let usable = try NetworkInterfaces.current().filter { $0.obstacle == nil }
        return usable.compactMap(\.mac).first ?? MACAddress(2, 0, 0x5E, 0, 0x53, 1)
    }

    private static func responderOptions(_ arguments: Arguments, _ context: Context) throws -> RouterResponder.Options {
        var options = RouterResponder.Options()
        options.interfaces = context.interfaces
        options.address = arguments[address]
        options.group = try context.groupAddress()
        options.port = context.port ?? DiscoveryDatagram.port
        options.seed = arguments[seed]
        return options
    }
}
