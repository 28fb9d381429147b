import SocketCore
import WifiDiscovery

/// What `discover --watch` has shown so far, and what of each event is news.
struct DiscoverWatch {
    /// The directory is written at most that often: each writing waits for the disk.
    private static let keepingInterval = Duration.seconds(2)

    private let asked: Set<Dialect>
    /// A company root is configured: only who is proven to be the company's is chosen.
    private let wantsProof: Bool
    /// What the routers have proven; nil where nobody is asked.
    private var proofs: [MACAddress: RouterVerifier.Finding]?
    private let directory: RouterDirectory
    private let view: DiscoverView
    private var routers: [MACAddress: FoundRouter] = [:]
    private var routerIndex = SamenessIndex<MACAddress>()
    private var devices = WatchDevices()
    private var choosing = ChoiceWatch<MACAddress>()
    private var choosingDevices = ChoiceWatch<Int>()
    private var shown: Set<IPAddress> = []
    private var unkept: UnkeptRouters
    private var keptAt: ContinuousClock.Instant?
    /// nil until a scan has told it.
    private var link: Set<MACAddress>?
    private var linkUnknown: WirelessUnknown?
    private var selection: Selection?
    private var native: ScanResult?
    private var foreign: DialectResult?
    private var failures: [String: String] = [:]
    /// Whether anything was ever shown.
    private(set) var hasFound = false

    init(_ asked: Set<Dialect>, wantsProof: Bool, asksForProof: Bool = false, _ directory: RouterDirectory, _ view: DiscoverView) {
        self.asked = asked
        self.wantsProof = wantsProof
        unkept = UnkeptRouters(wantsProof: wantsProof)
        proofs = asksForProof && wantsProof ? [:] : nil
        self.directory = directory
        self.view = view
    }

    mutating func take(_ event: RunningDiscovery.Event) {
        switch event {
        case .native(.found(let router)): note("found", router, [])
        case .native(.updated(let router, let changes)):
            note("updated", router, changes.words, ChangeText.clauses(changes, routers[router.mac], router))
        case .native(.lost(let router, let loss)): lose(router, loss)
        case .native(.graded(let routers, let link, let unknown)): regrade(routers, link, unknown)
        case .native(.finished(let result)): native = result
        case .foreign(.found(let device)), .foreign(.updated(let device)): note(device)
        case .foreign(.lost(let device, let loss)): lose(device, loss)
        // Where the native scan runs, it tells the link.
        case .foreign(.graded(_, let link, let unknown)): if !asked.contains(.native) { regrade([], link, unknown) }
        case .foreign(.finished(let result)): foreign = result
        case .foreignFailed(let error): failures["dialects"] = "\(error)"
        }
        guard native == nil, foreign == nil else { return }
        if choosing.mayHaveChanged || choosingDevices.mayHaveChanged { reselect() }
    }

    /// A router was asked for proof.
    mutating func take(_ finding: RouterVerifier.Finding) {
        guard proofs != nil, routers[finding.subject.mac] != nil else { return }
        unkept.note(finding)
        proofs?[finding.subject.mac] = finding
        reselect()
    }

    /// Keeps what isn't kept yet; the findings for the summary.
    mutating func end() -> DiscoverFindings {
        unkept.keep(in: directory, view.output)
        var findings = DiscoverFindings(asked, native: native, foreign: foreign)
        findings.native.finish = .stopped
        findings.dialectFailures.merge(failures) { first, _ in first }
        findings.hasFound = hasFound
        return findings
    }

    private func row(_ router: FoundRouter) -> DiscoverRow {
        .native(router, also: DiscoverRow.spoken(devices.same(as: router).map(\.device)))
    }

    private mutating func note(_ word: String, _ router: FoundRouter, _ details: [String], _ clauses: [String]? = nil) {
        let before = routers[router.mac].map { devices.same(as: $0) } ?? []
        routers[router.mac] = router
        routerIndex.set(router.mac, router.samenessKeys(MACAddress.self))
        choosing.set(router.mac, DiscoverRow.native(router, also: []).candidate)
        unkept.note(router)
        hasFound = true
        view.change(word, row(router), details, clauses)
        // A device of its own row so far turns out to be this router, or to be it no more.
        for (number, device) in devices.same(as: router) {
            shown.subtract(device.addresses)
            choosingDevices.set(number, nil)
        }
        for (number, _) in before { showIfRow(number) }
        guard !unkept.isEmpty, keptAt.map({ $0.duration(to: .now) >= DiscoverWatch.keepingInterval }) ?? true else { return }
        unkept.keep(in: directory, view.output)
        keptAt = .now
    }

    private mutating func lose(_ router: FoundRouter, _ loss: DiscoveryEvent.Loss) {
        routers[router.mac] = nil
        unkept.lost(router.mac)
        routerIndex.set(router.mac, [])
        choosing.set(router.mac, nil)
        view.change("lost", row(router), [loss.rawValue])
        // What it leaves behind may be a row of its own.
        for (number, _) in devices.same(as: router) { showIfRow(number) }
    }

    /// Another access point: those whose grade it changes are news.
    private mutating func regrade(_ graded: [FoundRouter], _ now: Set<MACAddress>, _ unknown: WirelessUnknown?) {
        defer { (link, linkUnknown) = (now, unknown) }
        guard link != nil else { return }
        view.link(now, unknown)
        for router in graded where router.grading != routers[router.mac]?.grading { note("updated", router, ["grade"]) }
        for number in devices.grade(against: now) {
            guard let device = devices[number] else { continue }
            if isRow(device) { choosingDevices.set(number, DiscoverRow.foreign(device).candidate) }
            if !shown.isDisjoint(with: device.addresses) { view.change("updated", .foreign(device), ["grade"]) }
        }
    }

    private mutating func note(_ found: FoundDevice) {
        var device = found
        // After a roam the scan of foreign dialects still knows the old link.
        if let link { device.grading = device.device.grading(link: link) }
        let (number, before) = devices.put(device)
        for (number, _) in before { choosingDevices.set(number, nil) }
        if let router = router(of: device) {
            let known = Set(before.flatMap(\.device.device.dialects))
            if !known.isSuperset(of: device.device.dialects) { view.change("updated", row(router), ["dialect"]) }
        } else if !shown.isDisjoint(with: device.addresses) {
            shown.formUnion(device.addresses)
            view.change("updated", .foreign(device), ["description"])
        }
        showIfRow(number)
    }

    private mutating func lose(_ device: FoundDevice, _ loss: DiscoveryEvent.Loss) {
        for (number, _) in devices.remove(device) { choosingDevices.set(number, nil) }
        guard !shown.isDisjoint(with: device.addresses) else { return }
        shown.subtract(device.addresses)
        view.change("lost", .foreign(device), [loss.rawValue])
    }

    /// The native router that a device is.
    private func router(of device: FoundDevice) -> FoundRouter? {
        routerIndex.sharing(device.samenessKeys(MACAddress.self)).sorted().lazy.compactMap { routers[$0] }
            .first { device.device.isSame(as: $0.discovered) }
    }

    private func isRow(_ device: FoundDevice) -> Bool { DiscoverRow.isRow(device) && router(of: device) == nil }

    /// Shows a device that has become a row of its own: newly found, known as a router or the gateway only now, or left behind by a router
    /// that is gone.
    private mutating func showIfRow(_ number: Int) {
        guard let device = devices[number], isRow(device) else { return }
        choosingDevices.set(number, DiscoverRow.foreign(device).candidate)
        guard shown.isDisjoint(with: device.addresses) else { return }
        shown.formUnion(device.addresses)
        hasFound = true
        view.change("found", .foreign(device), [])
    }

    /// Chooses anew among those that are there now: that one is the only responder is no longer true once another answers.
    private mutating func reselect() {
        choosingDevices.settled()
        let native = choosing.choose()
        guard !devices.isEmpty || native != selection || proofs != nil else { return }
        let judged = routers.values.sorted { $0.mac < $1.mac }.map { router in
            var judged = router
            judged.evidence.onlyResponder = choosing.isAlone && router.discovered.isConfirmed
            return judged
        }
        let rows = DiscoverRow.rows(judged, devices.all)
        let verdicts = proofs.map { DiscoverVerdicts($0, hasRoot: wantsProof) }
        let candidates = verdicts.map { $0.admitted(rows, link: link ?? []) } ?? (wantsProof ? [] : rows)
        let choice = Selection.choose(amongRows: candidates)
        // That nobody is proven is no news before somebody was asked.
        let tellsNone = wantsProof && !rows.isEmpty && proofs?.isEmpty != true
        guard choice != selection, choice.mac != nil || selection?.mac != nil || tellsNone else { return }
        selection = choice
        var findings = DiscoverFindings(asked, native: nil, foreign: nil)
        (findings.rows, findings.selection) = (rows, choice)
        findings.lacksProof = wantsProof && verdicts == nil
        (findings.native.link, findings.native.linkUnknown) = (link ?? [], linkUnknown)
        if let verdicts { findings.verdicts = verdicts }
        view.selected(findings)
    }
}

extension FoundDevice {
    fileprivate var addresses: Set<IPAddress> { Set(device.places.map(\.address)) }
}
