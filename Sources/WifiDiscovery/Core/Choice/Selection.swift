/// Which router the user is connected to, as far as it can be told (protocol.md, section 5).
public struct Selection: Hashable, Sendable {
    /// What decided.
    public enum Why: String, Hashable, Sendable, CaseIterable {
        /// Exactly one reply holds the link's address as its MAC.
        case exact
        /// Exactly one reply names the link's address as a radio's.
        case radio
        /// One near relation, far better than the next, and supported by evidence.
        case family
        /// No address decided, but exactly one router has said in a session that it serves this station, itself or by a child.
        case station
        /// No relation decided; this one is the default gateway. The access point is unknown to it.
        case gateway
        /// Several claim the link, and nothing tells them apart.
        case conflict
        /// Nothing decided.
        case none
    }

    /// How far to trust it.
    public enum Certainty: String, Hashable, Sendable, CaseIterable {
        /// One router and no other claims the link.
        case certain
        /// A guess with support, or a conflict that evidence broke.
        case probable
        /// Nothing is known but that the traffic goes through it.
        case assumed
        /// There is no choice.
        case none
    }

    /// The chosen router; nil when there is none.
    public var mac: MACAddress?
    /// What decided.
    public var why: Why
    /// How far to trust it.
    public var certainty: Certainty

    /// A selection.
    public init(_ mac: MACAddress?, _ why: Why, _ certainty: Certainty) {
        self.mac = mac
        self.why = why
        self.certainty = certainty
    }

    /// One router in the choice.
    public struct Candidate: Hashable, Sendable {
        /// Its identity.
        public var mac: MACAddress
        /// Its relation to the link.
        public var grading: Grading
        /// What the system knows about its source.
        public var evidence: Evidence
        /// Two devices show this MAC: never chosen by itself.
        public var isConflicted: Bool

        /// A candidate. Only routers that answered a probe of our own, and where a company root is configured only those
        /// with verdict `company`, may be made one.
        public init(mac: MACAddress, grading: Grading, evidence: Evidence = Evidence(), isConflicted: Bool = false) {
            self.mac = mac
            self.grading = grading
            self.evidence = evidence
            self.isConflicted = isConflicted
        }
    }

    /// How much nearer than the next one a `family` must be.
    public static let familyMargin = 2

    /// Chooses. The order of the candidates has no influence.
    public static func choose(among candidates: some Collection<Candidate>) -> Selection {
        let exact = candidates.filter { $0.grading.grade == .exact }
        if !exact.isEmpty { return settle(exact, .exact) }
        let radio = candidates.filter { $0.grading.grade == .radio }
        if !radio.isEmpty { return settle(radio, .radio) }
        // The only positive proof behind a child access point: it outweighs every guess.
        let seeing = candidates.filter { $0.evidence.seesStation == true && !$0.isConflicted }
        if seeing.count == 1, let seer = seeing.first { return Selection(seer.mac, .station, .certain) }
        if let family = nearest(candidates) { return Selection(family.mac, .family, .probable) }
        let gateways = candidates.filter { $0.evidence.gateway && !$0.isConflicted }
        if gateways.count == 1, let gateway = gateways.first { return Selection(gateway.mac, .gateway, .assumed) }
        return Selection(nil, .none, .none)
    }

    /// Rules 1 and 2: one claim is certain; among several the one that serves this station, then neighbour match, then gateway.
    private static func settle(_ claims: [Candidate], _ why: Why) -> Selection {
        if claims.count == 1, !claims[0].isConflicted { return Selection(claims[0].mac, why, .certain) }
        let seeing = claims.filter { $0.evidence.seesStation == true }
        let matched = claims.filter { $0.evidence.neighbour == .match }
        var left = seeing.count == 1 ? seeing : matched.isEmpty ? claims : matched
        if left.count > 1 { left = left.filter(\.evidence.gateway) }
        guard claims.count > 1, left.count == 1, !left[0].isConflicted else { return Selection(nil, .conflict, .none) }
        return Selection(left[0].mac, why, .probable)
    }

    /// Rule 3. A weak `family` is never chosen itself, but stands in the way of one that isn't clearly nearer.
    private static func nearest(_ candidates: some Collection<Candidate>) -> Candidate? {
        let families = candidates.filter { $0.grading.grade == .family }
        let near = families.filter { !$0.grading.isWeak }
        guard near.count == 1, let found = near.first, !found.isConflicted else { return nil }
        let next = families.filter { $0.grading.isWeak }.compactMap(\.grading.distance).min() ?? .max
        guard next - (found.grading.distance ?? 0) >= familyMargin else { return nil }
        let evidence = found.evidence
        return evidence.gateway || evidence.neighbour == .match || evidence.onlyResponder ? found : nil
    }
}
