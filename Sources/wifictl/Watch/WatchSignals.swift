import SocketCore
import WifiDiscovery

/// How well the routers' radios are heard, where the kernel tells it: asked while this machine's link is Wi-Fi.
struct WatchSignals: Sendable {
    /// dBm of each network on the air, as old as the kernel's last scan.
    var networks: @Sendable () -> [MACAddress: Double] = { WirelessLink.signals() }
    /// The links that this machine has now, with their signal of this moment.
    var links: @Sendable () -> [WirelessAssociation] = { WirelessLink.read().interfaces.compactMap(\.linked) }

    /// What the screen is told: the link's own signal, and that of each router one of whose radios is heard.
    func read(_ routers: [FoundRouter]) -> [WatchInput] {
        let links = links()
        var heard = networks()
        for link in links { if let signal = link.signal { for bssid in link.bssids { heard[bssid] = signal } } }
        return [.signal(links.compactMap(\.signal).max())]
            + routers.compactMap { router in
                let radios = router.discovered.router.radios.map(\.bssid) + [router.mac]
                return radios.compactMap { heard[$0] }.max().map { .routerSignal(id: "\(router.mac)", $0) }
            }
    }
}
