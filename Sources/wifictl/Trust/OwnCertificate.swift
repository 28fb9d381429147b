import SocketCore
import WifiDiscovery

/// What is wrong with a router's own certificate, told before a controller meets it.
enum OwnCertificate {
    /// As a controller would judge it that has the company's root: the certificate of each of the routers that show it.
    ///
    /// - Parameters:
    ///   - path: the file of `--identity`; the first certificate in it is the router's.
    ///   - macs: the routers that show it.
    /// - Throws: `TLSError.configuration` when the file can't be read.
    static func remarks(_ path: String, of macs: [MACAddress], at time: JudgedTime) throws -> [String] {
        for case .certificate(let facts) in try CertificateInspection.contents(ofFile: path) {
            let evidence = PeerEvidence(chain: [facts], findings: [], revocations: [.noList], judgedCount: 1, isResumed: false)
            let judge = VerdictJudge(hasRoot: true)
            let bad = macs.map { ($0, judge.judge(.evidence(evidence), of: $0, at: time)) }.filter { $0.1.verdict != .company }
            guard let (mac, judgement) = bad.first else { return [] }
            let others = bad.count > 1 ? " (and \(bad.count - 1) more with the same certificate)" : ""
            return ["controllers will call \(mac)\(others) \(judgement.verdict.name): \(judgement.detail)"]
        }
        return []
    }
}
