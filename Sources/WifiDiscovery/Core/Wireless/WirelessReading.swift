/// How an exchange with the kernel ended.
enum KernelAnswer: Equatable {
    case messages([NetlinkMessage])
    /// The kernel's error number.
    case refused(Int32)
}

/// What the shell does for a reading.
protocol WirelessKernel {
    /// Asks over generic netlink.
    func ask(_ request: NetlinkRequest) -> KernelAnswer
    /// Every interface of the machine, Wi-Fi or not.
    func interfaces() -> [(index: UInt32, name: String)]
    /// nil when the interface is gone.
    func isUp(_ name: String) -> Bool?
    /// SIOCGIWAP's answer; nil when the interface has no wireless extensions.
    func accessPoint(_ name: String) -> MACAddress?
}

/// Reads the Wi-Fi link: which requests, in which order, and what their answers mean.
///
/// Of the sources the scan table says the most; the station dump and wireless extensions say less and are asked only where
/// the table has no associated network.
struct WirelessReading {
    /// From Linux's errno.h: the core has no C library.
    private enum Code {
        static let notPermitted: Int32 = 1
        static let noEntry: Int32 = 2
        static let noDevice: Int32 = 19
        static let accessDenied: Int32 = 13
    }

    let kernel: any WirelessKernel
    private var sequence: UInt32 = 0

    init(_ kernel: any WirelessKernel) { self.kernel = kernel }

    static func read(_ kernel: any WirelessKernel) -> WirelessReport {
        var reading = WirelessReading(kernel)
        return reading.report()
    }

    /// The family's number and its multicast groups; a refusal when the kernel has no nl80211.
    mutating func family() -> Result<NetlinkFamily, WirelessUnknown> {
        var request = NL80211.request(NL80211.Controller.messageType, NL80211.Controller.getFamily, isDump: false, sequence: next())
        request.add(NL80211.Controller.familyName, NL80211.familyName)
        switch kernel.ask(request) {
        case .messages(let messages):
            guard let family = messages.lazy.compactMap(NetlinkFamily.init).first else { return .failure(.noWirelessSupport) }
            return .success(family)
        case .refused(Code.noEntry): return .failure(.noWirelessSupport)
        case .refused(let code): return .failure(unknown(code, "nl80211"))
        }
    }

    private mutating func report() -> WirelessReport {
        let family: NetlinkFamily
        switch self.family() {
        case .failure(let reason): return withExtensions(absence: reason)
        case .success(let found): family = found
        }
        switch kernel.ask(NL80211.request(family.id, NL80211.Command.getInterface, isDump: true, sequence: next())) {
        case .refused(let code): return withExtensions(absence: unknown(code, "interfaces"))
        case .messages(let messages):
            let all = messages.compactMap(WirelessInterface.init)
            let clients = all.filter(\.isClient)
            guard !clients.isEmpty else { return withExtensions(absence: all.isEmpty ? .noInterface : .noClientInterface) }
            return WirelessReport(
                interfaces: clients.map { client in
                    WirelessReport.Interface(
                        index: client.index, name: client.name, station: client.mac, association: association(of: client, family))
                })
        }
    }

    private mutating func association(
        of interface: WirelessInterface, _ family: NetlinkFamily
    ) -> Result<WirelessAssociation, WirelessUnknown> {
        var refusal: WirelessUnknown?
        var sawPlaceholder = false
        switch ask(family, NL80211.Command.getScan, about: interface) {
        case .refused(let code): refusal = unknown(code, "networks of \(interface.name)")
        case .messages(let messages):
            let found = messages.compactMap(AssociatedBSS.init)
            if let association = WirelessReading.combine(found) { return .success(association) }
            sawPlaceholder = !found.isEmpty
        }
        switch ask(family, NL80211.Command.getStation, about: interface) {
        case .refused(let code): refusal = refusal ?? unknown(code, "stations of \(interface.name)")
        case .messages(let messages):
            let peers = messages.compactMap(StationPeer.init)
            if let peer = peers.first(where: { !$0.mac.isPlaceholder }) {
                return .success(
                    WirelessAssociation(
                        bssids: [peer.mac], mld: peer.mld, ssid: interface.ssid, frequency: interface.frequency, signal: peer.signal,
                        source: .station))
            }
            sawPlaceholder = sawPlaceholder || !peers.isEmpty
        }
        if let address = kernel.accessPoint(interface.name), !address.isPlaceholder {
            return .success(
                WirelessAssociation(
                    bssids: [address], ssid: interface.ssid, frequency: interface.frequency, source: .wirelessExtensions))
        }
        if kernel.isUp(interface.name) == false { return .failure(.interfaceDown) }
        return .failure(sawPlaceholder ? .placeholder : refusal ?? .notAssociated)
    }

    /// One association of all associated links; the one with the best signal speaks for them.
    private static func combine(_ found: [AssociatedBSS]) -> WirelessAssociation? {
        let usable = found.filter { !$0.bssid.isPlaceholder }
        guard let best = usable.max(by: { ($0.signal ?? -.infinity) < ($1.signal ?? -.infinity) }) else { return nil }
        return WirelessAssociation(
            bssids: Set(usable.map(\.bssid)).sorted(), mld: usable.lazy.compactMap(\.mld).first { !$0.isPlaceholder }, ssid: best.ssid,
            frequency: best.frequency, signal: best.signal, source: .scan)
    }

    /// The last resort: drivers that know nothing of nl80211, or a kernel that doesn't let us ask it.
    private func withExtensions(absence: WirelessUnknown) -> WirelessReport {
        let found = kernel.interfaces().compactMap { index, name -> WirelessReport.Interface? in
            guard let address = kernel.accessPoint(name) else { return nil }
            let association: Result<WirelessAssociation, WirelessUnknown> =
                if !address.isPlaceholder {
                    .success(WirelessAssociation(bssids: [address], source: .wirelessExtensions))
                } else {
                    // Wireless extensions say "all zero" both for "none" and for "off".
                    .failure(kernel.isUp(name) == false ? .interfaceDown : .notAssociated)
                }
            return WirelessReport.Interface(index: index, name: name, station: nil, association: association)
        }
        return WirelessReport(interfaces: found, absence: found.isEmpty ? absence : nil)
    }

    mutating func ask(_ family: NetlinkFamily, _ command: UInt8, about interface: WirelessInterface) -> KernelAnswer {
        var request = NL80211.request(family.id, command, isDump: true, sequence: next())
        request.add(NL80211.Attribute.interfaceIndex, interface.index)
        return kernel.ask(request)
    }

    private func unknown(_ code: Int32, _ asking: String) -> WirelessUnknown {
        switch code {
        case Code.notPermitted, Code.accessDenied: .noPermission
        case Code.noDevice: .noInterface
        default: .failed(code: code, asking: asking)
        }
    }

    mutating func next() -> UInt32 {
        sequence += 1
        return sequence
    }
}
