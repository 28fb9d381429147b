/// What a router says of the access points behind it (protocol.md, section 3), over the connection on which it proved itself.
public struct RouterFamily: Hashable, Sendable {
    /// The children's MACs.
    public var children: Set<MACAddress>
    /// Whether it sees the asking station; nil when it wasn't asked or doesn't say.
    public var seesStation: Bool?
    /// Behind which radio, child access point or port the station sits, as the router words it.
    public var via: String?

    /// What was said.
    public init(children: Set<MACAddress> = [], seesStation: Bool? = nil, via: String? = nil) {
        self.children = children
        self.seesStation = seesStation
        self.via = via
    }

    /// The child behind which the station sits; nil for another place, and for one that isn't among the children.
    public var stationsChild: MACAddress? { via.flatMap { MACAddress($0) }.flatMap { children.contains($0) ? $0 : nil } }
}

/// Vouches for child access points (protocol.md, section 6): one of another brand can't prove itself, but the router behind which it hangs
/// knows it. Kept apart from proof: `vouched` is never selected where a company root is configured.
public enum Vouching {
    /// A router, and what it said of its children over its proven connection.
    public struct Parent: Sendable {
        /// The parent's MAC.
        public let mac: MACAddress
        /// What it was judged to be.
        public let judgement: Judgement
        /// What it said. A datagram's word is never this: anybody can send one.
        public let family: RouterFamily

        /// A parent as given.
        public init(mac: MACAddress, judgement: Judgement, family: RouterFamily) {
            self.mac = mac
            self.judgement = judgement
            self.family = family
        }
    }

    /// Whether a parent's word could add to the judgement: only an absence of proof is filled. Whoever proved to be somebody else, failed at
    /// proving, or spoke TLS before stays what it is.
    public static func mayFill(_ judgement: Judgement) -> Bool {
        guard case .unproven(let reason) = judgement.verdict else { return false }
        return [.plaintext, .unreachable, .notTLS].contains(reason) && !judgement.isDowngrade
    }

    /// The judgement on `mac` in the light of what proven routers say of it. A parent doesn't vouch for itself, and one that isn't `company`
    /// vouches for nobody.
    public static func judge(_ own: Judgement, of mac: MACAddress, parents: [Parent]) -> Judgement {
        guard mayFill(own) else { return own }
        let vouchers = parents.filter { $0.judgement.verdict == .company && $0.mac != mac && $0.family.children.contains(mac) }
        guard let parent = vouchers.min(by: { $0.mac < $1.mac }) else { return own }
        let behind = parent.family.stationsChild == mac ? ", and says that this machine sits behind it" : ""
        return Judgement(
            .vouched(by: parent.mac),
            "the company's router \(parent.mac) names it as its child\(behind); itself it proves nothing (\(own.detail))",
            certificate: own.certificate)
    }
}
