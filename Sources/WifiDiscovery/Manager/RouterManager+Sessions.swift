import SocketCore

extension RouterManager {
    /// A connection that isn't open yet, with the router's journal where state is kept.
    func makeConnection(_ mac: MACAddress, _ endpoint: Endpoint) throws -> RouterConnection {
        let session = try makeSession(mac, endpoint)
        let onEvent = onEvent
        return RouterConnection(session, mac: mac) { onEvent(mac, $0) }
    }

    /// A session that isn't started yet: resumed from the router's journal where state is kept.
    ///
    /// It dials where the router is: before each further try the router is looked for anew.
    public func makeSession(_ mac: MACAddress, _ endpoint: Endpoint) throws -> Session {
        var configuration = options.session
        configuration.expectedMAC = mac.description
        var discovery = options.discovery
        discovery.mac = mac
        discovery.link = .addresses([])
        let (loop, looks) = (loop, discovery)
        let resolver: Session.Resolver = { _ in
            // Not found is no failure here: the last address is dialled again.
            guard let result = try? await RouterDiscovery(looks, loop: loop).scan(for: .seconds(2)) else { return nil }
            return result.routers.first { $0.mac == mac && $0.discovered.isConfirmed }?.endpoint
        }
        guard let home = options.home, !configuration.isPlain else {
            return Session(to: endpoint, configuration, loop: loop, resolver: resolver)
        }
        let journal = try OutboxStore(home: home).open(mac)
        for remark in journal.remarks { onRemark(remark) }
        return Session(to: endpoint, configuration, journal: journal, loop: loop, resolver: resolver)
    }
}
