import SocketCore

/// What a router says about itself in a reply or an announcement (protocol.md, section 4). All of it is a claim.
public struct RouterDescription: Equatable, Sendable {
    /// More radios than any router has; the rest of a longer list is ignored.
    public static let maximumRadios = 16
    /// One MLD address a band and network; the rest of a longer list is ignored.
    public static let maximumMLD = 8
    /// As many child access points as a hello names; the rest of a longer list is ignored.
    public static let maximumChildren = SessionLimits.children
    /// A protocol doesn't live long enough for more; the rest of a longer list is ignored.
    public static let maximumVersions = 16

    /// One radio, or one network of a radio.
    public struct Radio: Hashable, Sendable {
        /// The address that stations are associated with.
        public var bssid: MACAddress
        /// The network's name, at most 32 bytes; empty when not told.
        public var ssid: String
        /// "2.4", "5", "6"; empty when not told.
        public var band: String

        /// A radio.
        public init(bssid: MACAddress, ssid: String = "", band: String = "") {
            self.bssid = bssid
            self.ssid = ssid
            self.band = band
        }
    }

    /// The router's own MAC: its identity.
    public var mac: MACAddress
    /// Display name; empty when not told. Texts hold no control characters and at most 64 bytes.
    public var name: String
    /// Manufacturer; empty when not told.
    public var vendor: String
    /// Model; empty when not told.
    public var model: String
    /// Firmware version; empty when not told.
    public var firmware: String
    /// The TCP port of its session listener, 1...65535.
    public var tcp: UInt16
    /// Whether that listener speaks TLS.
    public var tls: Bool
    /// Protocol versions it speaks; never empty.
    public var versions: [UInt16]
    /// Another one after every start; nil when not told.
    public var boot: HexToken?
    /// Seconds since its start; nil when not told.
    public var uptime: Int?
    /// Its radios; BSSIDs that mean "unknown" are left out.
    public var radios: [Radio]
    /// Its addresses for multi-link operation (IEEE 802.11be).
    public var mld: [MACAddress]
    /// Access points that hang behind it, by its own word. Here a hint to ask: only what it says over its proven connection counts.
    public var children: [MACAddress]

    /// A description; texts are cleaned and lists cut to their bounds.
    public init(
        mac: MACAddress, name: String = "", vendor: String = "", model: String = "", firmware: String = "", tcp: UInt16 = 19510,
        tls: Bool = false, versions: [UInt16] = [1], boot: HexToken? = nil, uptime: Int? = nil, radios: [Radio] = [],
        mld: [MACAddress] = [],
        children: [MACAddress] = []
    ) {
        let clean = { (text: String) in DisplayText.clean(text, limit: DisplayText.maximumNameBytes) }
        self.mac = mac
        self.name = clean(name)
        self.vendor = clean(vendor)
        self.model = clean(model)
        self.firmware = clean(firmware)
        self.tcp = tcp
        self.tls = tls
        self.versions = Array(versions.prefix(RouterDescription.maximumVersions))
        self.boot = boot
        self.uptime = uptime
        self.radios = radios.prefix(RouterDescription.maximumRadios).map { radio in
            Radio(
                bssid: radio.bssid, ssid: DisplayText.clean(radio.ssid, limit: DisplayText.maximumSSIDBytes),
                band: DisplayText.clean(radio.band, limit: DisplayText.maximumBandBytes))
        }
        self.mld = Array(mld.prefix(RouterDescription.maximumMLD))
        self.children = Array(children.prefix(RouterDescription.maximumChildren))
    }

    /// True when `address` is this router's MAC, one of its BSSIDs or one of its MLD addresses.
    public func owns(_ address: MACAddress) -> Bool {
        mac == address || mld.contains(address) || radios.contains { $0.bssid == address }
    }

    /// The same router with nothing that changes from second to second: for telling news from repetition.
    var withoutUptime: RouterDescription {
        var copy = self
        copy.uptime = nil
        return copy
    }
}
