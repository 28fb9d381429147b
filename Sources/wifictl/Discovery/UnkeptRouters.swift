import SocketCore
import WifiDiscovery

/// Routers that were found and aren't in the directory yet: where a company root is configured, only who has proven to be the company's
/// gets there, since by anybody's word a name would become ambiguous, and a known router move.
struct UnkeptRouters {
    private let wantsProof: Bool
    private var unproven: [MACAddress: FoundRouter] = [:]
    private var ready: [MACAddress: (FoundRouter, Endpoint?)] = [:]

    init(wantsProof: Bool) { self.wantsProof = wantsProof }

    /// Whether there's nothing to keep yet.
    var isEmpty: Bool { ready.isEmpty }

    /// It was found, or says something else.
    mutating func note(_ router: FoundRouter) {
        if wantsProof { unproven[router.mac] = router } else { ready[router.mac] = (router, nil) }
    }

    /// It was asked for proof.
    mutating func note(_ finding: RouterVerifier.Finding) {
        if finding.judgement.verdict == .company { proven(finding.subject.mac, at: finding.endpoint) }
    }

    /// It has proven there to be the company's.
    mutating func proven(_ mac: MACAddress, at place: Endpoint) {
        if let router = unproven.removeValue(forKey: mac) { ready[mac] = (router, place) }
    }

    /// It's gone, and can't prove anything any more.
    mutating func lost(_ mac: MACAddress) { unproven[mac] = nil }

    /// Keeps them for other commands.
    mutating func keep(in directory: RouterDirectory, _ output: Output) {
        let now = SystemCalls.monotonicNow()
        do {
            try directory.merge(ready.values.filter { $0.1 == nil }.map(\.0), now: now)
            try directory.merge(proven: ready.values.compactMap { router, place in place.map { (router, $0) } }, now: now)
        } catch {
            // What was found has been shown: that it can't be kept as well is no failure of the scan.
            output.warning("\(error)")
        }
        ready = [:]
    }
}
