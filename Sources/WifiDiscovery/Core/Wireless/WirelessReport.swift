/// One association of this machine's Wi-Fi.
public struct WirelessAssociation: Equatable, Sendable {
    /// How it was learned, the most telling first.
    public enum Source: String, Hashable, Sendable, CaseIterable {
        /// nl80211's table of networks: all links, the MLD address, name, frequency and signal.
        case scan
        /// nl80211's station dump: one address.
        case station
        /// Wireless extensions (SIOCGIWAP), for drivers without nl80211: one address.
        case wirelessExtensions
    }

    /// The associated BSSIDs, ascending; several with multi-link operation. Placeholders are never among them.
    public var bssids: [MACAddress]
    /// The access point's address over all links (IEEE 802.11be); nil without multi-link operation.
    public var mld: MACAddress?
    /// The network's name; nil when it wasn't told.
    public var ssid: WirelessName?
    /// MHz; of the link with the best signal where there are several. nil when not told.
    public var frequency: Int?
    /// dBm, of the same link; nil when not told.
    public var signal: Double?
    /// How it was learned.
    public var source: Source

    /// An association.
    public init(
        bssids: [MACAddress], mld: MACAddress? = nil, ssid: WirelessName? = nil, frequency: Int? = nil, signal: Double? = nil,
        source: Source
    ) {
        self.bssids = bssids
        self.mld = mld
        self.ssid = ssid
        self.frequency = frequency
        self.signal = signal
        self.source = source
    }

    /// The addresses that grades compare with: BSSIDs and MLD address (protocol.md, section 5).
    public var addresses: Set<MACAddress> { Set(bssids).union(mld.map { [$0] } ?? []) }

    /// "2.4", "5" or "6", from the frequency.
    public var band: String? {
        switch frequency ?? 0 {
        case 2_400..<2_500: "2.4"
        case 4_900..<5_925: "5"
        case 5_925..<7_126: "6"
        default: nil
        }
    }
}

/// Why the access point isn't known.
public enum WirelessUnknown: Error, Hashable, Sendable {
    /// The kernel has neither nl80211 nor an interface with wireless extensions.
    case noWirelessSupport
    /// The kernel knows of no Wi-Fi interface.
    case noInterface
    /// There are Wi-Fi interfaces, none of them a client: this machine is an access point itself, or only listens.
    case noClientInterface
    /// The interface is switched off.
    case interfaceDown
    /// The interface is on and not associated; for some tenths of a second that is normal while it moves between access points.
    case notAssociated
    /// The kernel showed an address that stands for "unknown".
    case placeholder
    /// The kernel refused to tell.
    case noPermission
    /// A request failed; the error number, and what was asked.
    case failed(code: Int32, asking: String)

    /// A word for scripts.
    public var word: String {
        switch self {
        case .noWirelessSupport: "noWirelessSupport"
        case .noInterface: "noInterface"
        case .noClientInterface: "noClientInterface"
        case .interfaceDown: "interfaceDown"
        case .notAssociated: "notAssociated"
        case .placeholder: "placeholder"
        case .noPermission: "noPermission"
        case .failed: "failed"
        }
    }

    /// True where asking again in a moment may give another answer.
    public var mayPass: Bool { self == .notAssociated || self == .placeholder }
}

extension WirelessUnknown: CustomStringConvertible {
    /// A sentence for people, with what to try.
    public var description: String {
        switch self {
        case .noWirelessSupport: "this kernel has no Wi-Fi support (wired? give the access point with --bssid)"
        case .noInterface: "this machine has no Wi-Fi interface (wired? give the access point with --bssid)"
        case .noClientInterface: "no Wi-Fi interface is a client of an access point"
        case .interfaceDown: "Wi-Fi is switched off (switch it on, or see rfkill)"
        case .notAssociated: "Wi-Fi is on, but not connected to a network"
        case .placeholder: "the system keeps the access point's address to itself (give it with --bssid)"
        case .noPermission: "the system doesn't allow asking for the access point (give it with --bssid, or run outside of the sandbox)"
        case .failed(let code, let asking): "asking for \(asking) failed with error \(code) (give the access point with --bssid)"
        }
    }
}

/// What is known of this machine's Wi-Fi.
public struct WirelessReport: Equatable, Sendable {
    /// One client interface.
    public struct Interface: Equatable, Sendable {
        /// The interface's index.
        public var index: UInt32
        /// The interface's name.
        public var name: String
        /// Its own address as the access point sees it: a hello's `station` (protocol.md, section 3).
        public var station: MACAddress?
        /// What it is associated with, or why that isn't known.
        public var association: Result<WirelessAssociation, WirelessUnknown>

        /// An interface.
        public init(index: UInt32, name: String, station: MACAddress?, association: Result<WirelessAssociation, WirelessUnknown>) {
            self.index = index
            self.name = name
            self.station = station
            self.association = association
        }

        /// What it is associated with.
        public var linked: WirelessAssociation? { try? association.get() }
    }

    /// Client interfaces, ordered by index.
    public var interfaces: [Interface]
    /// Why there are none; nil when there are.
    public var absence: WirelessUnknown?

    /// A report.
    public init(interfaces: [Interface], absence: WirelessUnknown? = nil) {
        self.interfaces = interfaces.sorted { $0.index < $1.index }
        self.absence = absence
    }

    /// The addresses of all associations: the link that routers are graded against.
    public var addresses: Set<MACAddress> { interfaces.reduce(into: []) { $0.formUnion($1.linked?.addresses ?? []) } }

    /// Why ``addresses`` is empty; nil when it isn't. Of several interfaces, the reason that is the easiest to mend.
    public var unknown: WirelessUnknown? {
        guard addresses.isEmpty else { return nil }
        let reasons = interfaces.compactMap { interface in
            if case .failure(let reason) = interface.association { reason } else { nil }
        }
        return reasons.first(where: \.mayPass) ?? reasons.first ?? absence ?? .noInterface
    }
}
