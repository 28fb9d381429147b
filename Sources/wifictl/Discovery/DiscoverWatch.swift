import SocketCore
import WifiDiscovery

/// What `discover --watch` has shown so far, and what of each event is news.
struct DiscoverWatch {
    /// The directory is written at most that often: each writing waits for the disk.
    private static let keepingInterval = Duration.seconds(2)

    private let asked: Set<Dialect>
    /// A company root is configured: nobody is chosen, since a watch asks nobody for proof.
    private let wantsProof: Bool
    private let directory: RouterDirectory
    private let view: DiscoverView
    private var routers: [MACAddress: FoundRouter] = [:]
    private var devices: [FoundDevice] = []
    private var choosing = ChoiceWatch()
    private var shown: Set<IPAddress> = []
    private var unkept: [MACAddress: FoundRouter] = [:]
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

    init(_ asked: Set<Dialect>, wantsProof: Bool, _ directory: RouterDirectory, _ view: DiscoverView) {
        self.asked = asked
        self.wantsProof = wantsProof
        self.directory = directory
        self.view = view
    }

    mutating func take(_ event: RunningDiscovery.Event) {
        switch event {
        case .native(.found(let router)): note("found", router, [])
        case .native(.updated(let router, let changes)): note("updated", router, changes.words)
        case .native(.lost(let router, let loss)):
            routers[router.mac] = nil
            choosing.set(router.mac, nil)
            view.change("lost", row(router), [loss.rawValue])
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
        showNewRows()
        // Where other makers' devices are listed, any change may matter.
        if choosing.mayHaveChanged || !devices.isEmpty { reselect() }
    }

    /// Keeps what isn't kept yet; the findings for the summary.
    mutating func end() -> DiscoverFindings {
        directory.keep(unkept.values, view.output)
        var findings = DiscoverFindings(asked, native: native, foreign: foreign)
        findings.native.finish = .stopped
        findings.dialectFailures.merge(failures) { first, _ in first }
        findings.hasFound = hasFound
        return findings
    }

    private func row(_ router: FoundRouter) -> DiscoverRow { .native(router, also: DiscoverRow.alsoSpeaks(router, devices)) }

    private mutating func note(_ word: String, _ router: FoundRouter, _ details: [String]) {
        routers[router.mac] = router
        choosing.set(router.mac, DiscoverRow.native(router, also: []).candidate)
        unkept[router.mac] = router
        hasFound = true
        view.change(word, row(router), details)
        // A device of its own row so far turns out to be this router.
        for device in devices where device.device.isSame(as: router.discovered) { shown.subtract(device.addresses) }
        guard keptAt.map({ $0.duration(to: .now) >= DiscoverWatch.keepingInterval }) ?? true else { return }
        directory.keep(unkept.values, view.output)
        unkept = [:]
        keptAt = .now
    }

    /// Another access point: those whose grade it changes are news.
    private mutating func regrade(_ graded: [FoundRouter], _ now: Set<MACAddress>, _ unknown: WirelessUnknown?) {
        defer { (link, linkUnknown) = (now, unknown) }
        guard link != nil else { return }
        view.link(now, unknown)
        for router in graded where router.grading != routers[router.mac]?.grading { note("updated", router, ["grade"]) }
        for index in devices.indices {
            let before = devices[index].grading
            devices[index].grading = devices[index].device.grading(link: now)
            guard before != devices[index].grading, !shown.isDisjoint(with: devices[index].addresses) else { continue }
            view.change("updated", .foreign(devices[index]), ["grade"])
        }
    }

    private mutating func note(_ found: FoundDevice) {
        choosing.invalidate()
        var device = found
        // After a roam the scan of foreign dialects still knows the old link.
        if let link { device.grading = device.device.grading(link: link) }
        let before = devices.filter { $0.isSame(as: device) }
        devices.removeAll { $0.isSame(as: device) }
        devices.append(device)
        if let router = routers.values.first(where: { device.device.isSame(as: $0.discovered) }) {
            let known = Set(before.flatMap(\.device.dialects))
            if !known.isSuperset(of: device.device.dialects) { view.change("updated", row(router), ["dialect"]) }
        } else if !shown.isDisjoint(with: device.addresses) {
            shown.formUnion(device.addresses)
            view.change("updated", .foreign(device), ["description"])
        }
    }

    private mutating func lose(_ device: FoundDevice, _ loss: DiscoveryEvent.Loss) {
        choosing.invalidate()
        devices.removeAll { $0.isSame(as: device) }
        guard !shown.isDisjoint(with: device.addresses) else { return }
        shown.subtract(device.addresses)
        view.change("lost", .foreign(device), [loss.rawValue])
    }

    /// Devices that have become rows of their own: newly found, known as a router or the gateway only now, or left behind by a router
    /// that is gone.
    private mutating func showNewRows() {
        for device in devices where shown.isDisjoint(with: device.addresses) && DiscoverRow.isShown(device, beside: routers.values) {
            shown.formUnion(device.addresses)
            hasFound = true
            view.change("found", .foreign(device), [])
        }
    }

    /// Chooses anew among those that are there now: that one is the only responder is no longer true once another answers.
    private mutating func reselect() {
        guard !devices.isEmpty || choosing.choose() != selection else { return }
        let judged = routers.values.sorted { $0.mac < $1.mac }.map { router in
            var judged = router
            judged.evidence.onlyResponder = choosing.isAlone && router.discovered.isConfirmed
            return judged
        }
        let rows = DiscoverRow.rows(judged, devices)
        let choice = wantsProof ? Selection(nil, .none, .none) : Selection.choose(amongRows: rows)
        guard choice != selection, choice.mac != nil || selection?.mac != nil || wantsProof && !rows.isEmpty else { return }
        selection = choice
        var findings = DiscoverFindings(asked, native: nil, foreign: nil)
        (findings.rows, findings.selection) = (rows, choice)
        findings.lacksProof = wantsProof
        (findings.native.link, findings.native.linkUnknown) = (link ?? [], linkUnknown)
        view.selected(findings)
    }
}

extension FoundDevice {
    fileprivate var addresses: Set<IPAddress> { Set(device.places.map(\.address)) }

    /// Whether both are the same row: devices become one with others, but never share a place.
    fileprivate func isSame(as other: FoundDevice) -> Bool { !addresses.isDisjoint(with: other.addresses) }
}
