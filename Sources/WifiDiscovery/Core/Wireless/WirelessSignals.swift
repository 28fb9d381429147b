extension WirelessReading {
    /// How well each network on the air is heard, dBm by BSSID, as the kernel's table of the client interfaces says; empty where it says
    /// nothing. Of several readings of one network the strongest counts.
    static func signals(_ kernel: any WirelessKernel) -> [MACAddress: Double] {
        var reading = WirelessReading(kernel)
        return reading.signals()
    }

    private mutating func signals() -> [MACAddress: Double] {
        guard case .success(let family) = family(),
            case .messages(let list) = kernel.ask(NL80211.request(family.id, NL80211.Command.getInterface, isDump: true, sequence: next()))
        else { return [:] }
        var signals: [MACAddress: Double] = [:]
        for client in list.compactMap(WirelessInterface.init) where client.isClient {
            guard case .messages(let networks) = ask(family, NL80211.Command.getScan, about: client) else { continue }
            for case let (bssid, signal)? in networks.map(WirelessReading.signal) where !bssid.isPlaceholder {
                signals[bssid] = max(signals[bssid] ?? -.infinity, signal)
            }
        }
        return signals
    }

    /// One entry of the scan dump, associated or not.
    private static func signal(_ message: NetlinkMessage) -> (MACAddress, Double)? {
        guard let bss = NL80211.attributes(message)[NL80211.Attribute.bss]?.nested, let bssid = bss[NL80211.BSS.bssid]?.mac,
            let signal = bss[NL80211.BSS.signal]?.int32
        else { return nil }
        return (bssid, Double(signal) / 100)
    }
}
