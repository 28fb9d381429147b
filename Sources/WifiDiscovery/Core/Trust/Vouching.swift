/// Vouches for child access points (protocol.md, section 6): one of another brand can't prove itself, but the router behind which it hangs
/// knows it. Kept apart from proof: `vouched` is never selected where a company root is configured.
public enum Vouching {
    /// A router and the children that it named in its reply or hello.
    public struct Parent: Sendable {
        /// The parent's MAC.
        public let mac: MACAddress
        /// What it was judged to be.
        public let judgement: Judgement
        /// The children's MACs as it named them, over its proven connection.
        public let children: Set<MACAddress>

        /// A parent as given.
        public init(mac: MACAddress, judgement: Judgement, children: Set<MACAddress>) {
            self.mac = mac
            self.judgement = judgement
            self.children = children
        }
    }

    /// The judgement on `mac` in the light of what proven routers say of it.
    ///
    /// Only an absence of proof is filled: whoever proved to be somebody else, or failed at proving, stays what it is. A parent
    /// doesn't vouch for itself, and one that isn't `company` vouches for nobody.
    public static func judge(_ own: Judgement, of mac: MACAddress, parents: [Parent]) -> Judgement {
        guard case .unproven(let reason) = own.verdict, [.plaintext, .unreachable, .notTLS].contains(reason), !own.isDowngrade else {
            return own
        }
        let voucher = parents.filter { $0.judgement.verdict == .company && $0.mac != mac && $0.children.contains(mac) }.map(\.mac).min()
        guard let voucher else { return own }
        return Judgement(
            .vouched(by: voucher), "the company's router \(voucher) names it as its child; itself it proves nothing (\(own.detail))",
            certificate: own.certificate)
    }
}
