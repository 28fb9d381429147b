import SocketCore

// What the native scan and that of foreign dialects have in common.

extension LinkRoster.Need {
    /// The socket through which an interface's family is asked, on a port of the kernel's choice.
    ///
    /// - Throws: `SystemError`.
    func askingSocket(on loop: EventLoop, owner: any DatagramOwner) throws(SystemError) -> UDPSocket {
        var options = UDPSocket.Options()
        options.interface = key.interface
        options.allowsBroadcast = true
        return try UDPSocket(on: loop, bind: Endpoint(bind, port: 0), options: options, owner: owner)
    }
}

extension RouterDiscovery.Link {
    /// The link's addresses now, or why they aren't known.
    func settled() async -> (addresses: Set<MACAddress>, unknown: WirelessUnknown?) {
        switch self {
        case .automatic:
            let report = await WirelessLink.settled()
            return (report.addresses, report.unknown)
        case .addresses(let addresses): return (addresses, nil)
        }
    }
}

/// The kernel's tables as a scan sees them: a burst of answers costs one reading.
struct ScanFacts {
    /// How old the tables may be when somebody is judged by them.
    private static let age = Duration.milliseconds(200)

    private(set) var facts = NetworkFacts()
    private var readAt = Instant.zero

    /// Reads them anew where they're too old.
    mutating func refresh(now: Instant) {
        guard now - readAt >= ScanFacts.age else { return }
        readAt = now
        // Without the tables there's no evidence, which is what "unknown" says; the scan goes on.
        if let current = try? NetworkFacts.current() { facts = current }
    }
}

/// What a watch follows: the interfaces, and the Wi-Fi link where it isn't given.
struct ScanFollowers {
    private var tasks: [Task<Void, Never>] = []

    /// Begins to tell of both, on the loop.
    mutating func begin(
        _ link: RouterDiscovery.Link, on loop: EventLoop, interfacesChanged: @escaping @Sendable () async -> Void,
        linkChanged: @escaping @Sendable (WirelessReport) async -> Void
    ) {
        tasks.append(Task(executorPreference: loop) { for await _ in NetworkChanges.stream(on: loop) { await interfacesChanged() } })
        guard link == .automatic else { return }
        tasks.append(Task(executorPreference: loop) { for await report in WirelessLink.reports(on: loop) { await linkChanged(report) } })
    }

    mutating func end() {
        for task in tasks { task.cancel() }
        tasks = []
    }
}
