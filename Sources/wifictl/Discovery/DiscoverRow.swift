import SocketCore
import WifiDiscovery

/// One row of `discover`: a router of the native dialect with the foreign ones that the same device speaks, or a device that
/// speaks only those.
enum DiscoverRow: Equatable, Sendable {
    case native(FoundRouter, also: [Dialect])
    case foreign(FoundDevice)

    /// The rows of a scan: routers, then the devices that none of them is and that are a router by their own words or the
    /// gateway by the system's.
    static func rows(_ routers: [FoundRouter], _ devices: [FoundDevice]) -> [DiscoverRow] {
        var index = SamenessIndex<Int>()
        for (number, device) in devices.enumerated() { index.set(number, device.samenessKeys(Int.self)) }
        var taken: Set<Int> = []
        let natives = routers.map { router in
            let same = index.sharing(router.samenessKeys(Int.self)).filter { devices[$0].device.isSame(as: router.discovered) }
            taken.formUnion(same)
            return DiscoverRow.native(router, also: spoken(same.map { devices[$0] }))
        }
        return natives + devices.enumerated().filter { !taken.contains($0.offset) && isRow($0.element) }.map { .foreign($0.element) }
    }

    /// The dialects in which any of these devices was heard.
    static func spoken(_ devices: [FoundDevice]) -> [Dialect] {
        let spoken = Set(devices.lazy.flatMap(\.device.dialects))
        return Dialect.allCases.filter(spoken.contains)
    }

    /// Whether a device that is none of the native routers has a row of its own.
    static func isRow(_ device: FoundDevice) -> Bool { device.device.isRouter || device.evidence.gateway }

    /// nil for a device whose hardware address neither it nor the kernel tells.
    var mac: MACAddress? {
        switch self {
        case .native(let router, _): router.mac
        case .foreign(let device): device.device.mac
        }
    }

    /// Display name; empty when not told.
    var name: String {
        switch self {
        case .native(let router, _): router.discovered.router.name
        case .foreign(let device): device.device.name
        }
    }

    /// Its name, else what else names it.
    var title: String {
        switch self {
        case .native(let router, _): router.discovered.router.title
        case .foreign(let device): device.name
        }
    }

    /// Manufacturer and model, as far as told.
    var product: String {
        switch self {
        case .native(let router, _): router.discovered.router.device
        case .foreign(let device): [device.device.vendor, device.device.model].filter { !$0.isEmpty }.joined(separator: " ")
        }
    }

    var radios: [RouterDescription.Radio] {
        switch self {
        case .native(let router, _): router.discovered.router.radios
        case .foreign(let device): device.device.bssids.map { RouterDescription.Radio(bssid: $0) }
        }
    }

    var interface: String {
        switch self {
        case .native(let router, _): router.interface
        case .foreign(let device): device.interface
        }
    }

    var grading: Grading {
        switch self {
        case .native(let router, _): router.grading
        case .foreign(let device): device.grading
        }
    }

    var evidence: Evidence {
        switch self {
        case .native(let router, _): router.evidence
        case .foreign(let device): device.evidence
        }
    }

    /// False for a router that was only announced: it gave no reply that could be graded.
    var isGraded: Bool {
        guard case .native(let router, _) = self else { return true }
        return router.discovered.isConfirmed
    }

    var isConflicted: Bool {
        guard case .native(let router, _) = self else { return false }
        return router.discovered.isConflicted
    }

    /// All dialects that it was heard in; the first one's words are the row's.
    var dialects: [Dialect] {
        switch self {
        case .native(_, let also): [.native] + also
        case .foreign(let device): device.device.dialects
        }
    }

    /// Where its sessions are opened; the standard port goes without saying. Of a foreign device the address alone.
    var place: String {
        switch self {
        case .native(let router, _):
            let address = router.discovered.address.text(on: router.interface)
            let port = router.discovered.router.tcp
            if port == DiscoveryDatagram.port { return address }
            return router.discovered.address.isV4 ? "\(address):\(port)" : "[\(address)]:\(port)"
        case .foreign(let device): return device.device.address.text(on: device.interface)
        }
    }

    /// What it is in the choice; nil for what can't be chosen.
    var candidate: Selection.Candidate? {
        guard let mac, isGraded else { return nil }
        return Selection.Candidate(mac: mac, grading: grading, evidence: evidence, isConflicted: isConflicted)
    }

    /// The same row, graded against another link.
    func graded(against link: Set<MACAddress>) -> DiscoverRow {
        switch self {
        case .native(var router, let also):
            router.grading = Grading.of(router.discovered.router, link: link)
            return .native(router, also: also)
        case .foreign(var device):
            device.grading = device.device.grading(link: link)
            return .foreign(device)
        }
    }
}

extension Selection {
    /// The choice among rows: routers of the native dialect first; where they give none, whoever else is there. Somebody who owns none of
    /// ours wants to know the router as well.
    static func choose(amongRows rows: [DiscoverRow]) -> Selection {
        let native = rows.filter { $0.dialects.first == .native }
        let choice = choose(among: native.compactMap(\.candidate))
        guard choice.why == .none, native.count < rows.count else { return choice }
        return choose(among: rows.compactMap(\.candidate))
    }
}
