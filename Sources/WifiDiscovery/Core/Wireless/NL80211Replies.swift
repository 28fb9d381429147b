/// What the controller says about a generic netlink family.
struct NetlinkFamily: Equatable {
    /// The type of the family's messages.
    var id: UInt16
    /// Multicast groups by name.
    var groups: [String: UInt32]

    init?(_ message: NetlinkMessage) {
        let attributes = NL80211.attributes(message)
        guard let id = attributes[NL80211.Controller.familyID]?.uint16 else { return nil }
        self.id = id
        groups = [:]
        for group in attributes[NL80211.Controller.groups]?.nested ?? NetlinkAttributes([]) {
            guard let name = group.nested[NL80211.Controller.groupName]?.text,
                let number = group.nested[NL80211.Controller.groupID]?.uint32
            else { continue }
            groups[name] = number
        }
    }
}

/// One interface of the interface dump. Its MAC is the interface's own, not the access point's.
struct WirelessInterface: Equatable {
    var index: UInt32
    var name: String
    var type: UInt32
    var mac: MACAddress?
    /// What it is associated with, where the kernel tells it here.
    var ssid: WirelessName?
    /// MHz; nil while there is no channel.
    var frequency: Int?

    /// A device for peer-to-peer setup has neither index nor name and is none that a socket could use.
    init?(_ message: NetlinkMessage) {
        let attributes = NL80211.attributes(message)
        guard let index = attributes[NL80211.Attribute.interfaceIndex]?.uint32, index != 0,
            let name = attributes[NL80211.Attribute.interfaceName]?.text, !name.isEmpty,
            let type = attributes[NL80211.Attribute.interfaceType]?.uint32
        else { return nil }
        self.index = index
        self.name = name
        self.type = type
        mac = attributes[NL80211.Attribute.mac]?.mac
        ssid = attributes[NL80211.Attribute.ssid].map { WirelessName($0.value) }
        frequency = attributes[NL80211.Attribute.frequency]?.uint32.map { Int($0) }
    }

    /// Whether it's a client of somebody's access point.
    var isClient: Bool { type == NL80211.InterfaceType.station || type == NL80211.InterfaceType.peerClient }
}

/// One network of the scan dump that this interface is associated with.
struct AssociatedBSS: Equatable {
    var bssid: MACAddress
    /// The access point's address over all links, with multi-link operation.
    var mld: MACAddress?
    var ssid: WirelessName
    /// MHz.
    var frequency: Int?
    /// dBm.
    var signal: Double?

    /// nil for every other network on the air.
    init?(_ message: NetlinkMessage) {
        guard let bss = NL80211.attributes(message)[NL80211.Attribute.bss]?.nested,
            bss[NL80211.BSS.status]?.uint32 == NL80211.BSS.isAssociated,
            let bssid = bss[NL80211.BSS.bssid]?.mac
        else { return nil }
        self.bssid = bssid
        mld = bss[NL80211.BSS.mldAddress]?.mac
        frequency = bss[NL80211.BSS.frequency]?.uint32.map { Int($0) }
        signal = bss[NL80211.BSS.signal]?.int32.map { Double($0) / 100 }
        // A hidden network's beacon has an empty name; the answer to our own request has the real one.
        let names = [NL80211.BSS.elements, NL80211.BSS.beaconElements].compactMap { bss[$0].flatMap { WirelessName(elements: $0.value) } }
        ssid = names.first { !$0.isHidden } ?? names.first ?? WirelessName([])
    }
}

/// One entry of the station dump of a client interface: the access point.
struct StationPeer: Equatable {
    /// The BSSID, or with multi-link operation the access point's MLD address.
    var mac: MACAddress
    var mld: MACAddress?
    /// dBm.
    var signal: Double?

    init?(_ message: NetlinkMessage) {
        let attributes = NL80211.attributes(message)
        guard let mac = attributes[NL80211.Attribute.mac]?.mac else { return nil }
        self.mac = mac
        mld = attributes[NL80211.Attribute.mldAddress]?.mac
        let signed = attributes[NL80211.Attribute.stationInfo]?.nested[NL80211.Station.signal]?.uint8
        signal = signed.map { Double(Int8(bitPattern: $0)) }
    }
}

/// Something that happened to an association, from the "mlme" group.
struct AssociationEvent: Equatable {
    var interface: UInt32
    var command: UInt8

    private static let relevant: Set<UInt8> = [
        NL80211.Command.newStation, NL80211.Command.deleteStation, NL80211.Command.associate, NL80211.Command.deauthenticate,
        NL80211.Command.disassociate, NL80211.Command.connect, NL80211.Command.roam, NL80211.Command.disconnect,
        NL80211.Command.channelSwitch,
    ]

    /// nil for messages of other families and commands that move nobody.
    init?(_ message: NetlinkMessage, family: UInt16) {
        guard message.type == family, let command = NL80211.command(message), AssociationEvent.relevant.contains(command),
            let interface = NL80211.attributes(message)[NL80211.Attribute.interfaceIndex]?.uint32
        else { return nil }
        self.interface = interface
        self.command = command
    }
}
