import SocketCore

/// What to believe of routers that have proven to be the company's, when the one that the user is connected to is chosen among them
/// (protocol.md, sections 5 and 6).
///
/// Proven are a router's MAC and the radios that its certificate names. The rest of its description is a datagram's word, which any device
/// of the network may have sent in its name.
public enum ProvenClaims {
    /// The routers as they may be chosen: nobody else who shows their MAC is a competitor any more. Where a certificate names a radio of the
    /// link, no claim counts beside it; nor does one about which two devices contradict each other in the same router's name, unless only
    /// one router is proven, so that no other could be chosen in its place.
    ///
    /// - Parameters:
    ///   - routers: those that are proven, each with the radios that its certificate names.
    ///   - link: the addresses that the station is connected to.
    public static func believed(_ routers: [(router: FoundRouter, certified: Set<MACAddress>)], link: Set<MACAddress>) -> [FoundRouter] {
        let isCertified = routers.contains { !$0.certified.isDisjoint(with: link) }
        return routers.map { router, certified in
            var description = router.discovered.router
            if isCertified || routers.count > 1 && router.discovered.isConflicted {
                description.radios = []
                description.mld = []
            }
            description.radios += certified.sorted().map { RouterDescription.Radio(bssid: $0) }
            var believed = router
            believed.discovered.isConflicted = false
            believed.grading = Grading.of(description, link: link)
            return believed
        }
    }
}

extension Judgement {
    /// The radios that the router's certificate names, where it has proven to be the company's.
    ///
    /// - Parameter enterprise: see ``RouterTrust/enterprise``.
    public func certifiedRadios(enterprise: UInt32? = nil) -> Set<MACAddress> {
        guard verdict == .company, let names = certificate?.names(enterprise: enterprise) else { return [] }
        return Set(names.radioAddresses.map(MACAddress.init(bits:)))
    }
}
