/// How a reply relates to the Wi-Fi link, best first (protocol.md, section 5).
public enum LinkGrade: String, Hashable, Sendable, CaseIterable, Comparable {
    /// The link holds the reply's MAC.
    case exact
    /// The link meets the reply's radios or MLD addresses.
    case radio
    /// The addresses look as if one device had them. A guess.
    case family
    /// The same manufacturer; informative.
    case vendor
    /// No relation, which proves nothing: a child access point of another brand looks like this.
    case none
    /// There is no usable BSSID: wired, no permission, a placeholder.
    case unknown

    /// Better grades are smaller.
    public static func < (left: LinkGrade, right: LinkGrade) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

/// A grade with the rule and the distance that gave it.
public struct Grading: Hashable, Sendable {
    /// Which rule of protocol.md, section 5 it was.
    public enum Rule: String, Hashable, Sendable, CaseIterable {
        /// The link holds the reply's MAC.
        case sameMAC
        /// The link holds one of the reply's BSSIDs.
        case sameBSSID
        /// The link holds one of the reply's MLD addresses.
        case sameMLD
        /// Octets 1 to 5 are equal, and octet 0 differs with a U/L bit set: a virtual interface of one radio.
        case localBit
        /// The same OUI and near in the lower 24 bits: addresses counted up within one device.
        case nearby
        /// Octets 1 and 2 are equal, octet 0 differs with a U/L bit set, and near in the lower 24 bits.
        case localBitNearby
        /// Octet 3 differs only in the bits that two-band chips change, octet 4 is equal and octet 5 near.
        case bandOctet
        /// The same OUI only.
        case sameOUI
        /// Nothing in common.
        case unrelated
        /// The link has no usable address.
        case noLink
    }

    /// The grade.
    public var grade: LinkGrade
    /// What gave it.
    public var rule: Rule
    /// How far apart the compared numbers are; 0 for equal ones, nil where nothing was compared.
    public var distance: Int?

    /// A grading.
    public init(_ grade: LinkGrade, _ rule: Rule, distance: Int?) {
        self.grade = grade
        self.rule = rule
        self.distance = distance
    }

    /// Up to here a distance is usual within one device.
    public static let nearDistance = 4
    /// Up to here it may be one device; such a guess never chooses a router.
    public static let weakDistance = 16

    /// True for a `family` that is too far away to choose by.
    public var isWeak: Bool { grade == .family && (distance ?? 0) > Grading.nearDistance }

    /// Grades a router against the link's addresses: the associated BSSIDs and, with multi-link operation, the access
    /// point's MLD address. Placeholders among them count as absent.
    ///
    /// All addresses that the router names are compared with all of the link's, since a guest network's BSSID is often near a
    /// radio's and further from the MAC; the best relation counts.
    public static func of(_ router: RouterDescription, link: some Collection<MACAddress>) -> Grading {
        let usable = link.filter { !$0.isPlaceholder }
        guard !usable.isEmpty else { return Grading(.unknown, .noLink, distance: nil) }
        if usable.contains(router.mac) { return Grading(.exact, .sameMAC, distance: 0) }
        if router.radios.contains(where: { usable.contains($0.bssid) }) { return Grading(.radio, .sameBSSID, distance: 0) }
        if router.mld.contains(where: usable.contains) { return Grading(.radio, .sameMLD, distance: 0) }
        var best = Grading(.none, .unrelated, distance: nil)
        for named in [router.mac] + router.radios.map(\.bssid) + router.mld {
            for address in usable {
                let found = AddressRelation(named, address).grading
                if found.isBetter(than: best) { best = found }
            }
        }
        return best
    }

    /// Better grade first, then the smaller distance, then the rule that stands earlier: so that the order in which
    /// addresses are listed never shows.
    private func isBetter(than other: Grading) -> Bool {
        if grade != other.grade { return grade < other.grade }
        let (mine, theirs) = (distance ?? .max, other.distance ?? .max)
        if mine != theirs { return mine < theirs }
        return (Rule.allCases.firstIndex(of: rule) ?? 0) < (Rule.allCases.firstIndex(of: other.rule) ?? 0)
    }
}

/// What two unequal addresses have in common. The U/L bit is cleared before anything is compared.
struct AddressRelation {
    private let left: MACAddress
    private let right: MACAddress
    private let eitherIsLocal: Bool

    init(_ left: MACAddress, _ right: MACAddress) {
        self.left = MACAddress(bits: left.bits & ~MACAddress.localBit)
        self.right = MACAddress(bits: right.bits & ~MACAddress.localBit)
        eitherIsLocal = left.isLocallyAdministered || right.isLocallyAdministered
    }

    private var sameOUI: Bool { left.bits >> 24 == right.bits >> 24 }
    private var lowDistance: Int { abs(Int(left.bits & 0xFF_FFFF) - Int(right.bits & 0xFF_FFFF)) }

    /// Octet 0 may differ in more than the U/L bit: guest networks count up in the bits above it.
    private var sameTail: Bool { eitherIsLocal && left.bits & 0xFF_FFFF_FFFF == right.bits & 0xFF_FFFF_FFFF }
    private var sameMiddle: Bool { eitherIsLocal && (left.bits >> 24) & 0xFFFF == (right.bits >> 24) & 0xFFFF }

    /// The distance in octet 5, when the band rule holds.
    private var bandDistance: Int? {
        let changed = left.octet(3) ^ right.octet(3)
        guard sameOUI, changed != 0, changed & 0x0F == 0 || changed & ~0x1C == 0, left.octet(4) == right.octet(4) else { return nil }
        let distance = abs(Int(left.octet(5)) - Int(right.octet(5)))
        return distance <= Grading.nearDistance ? distance : nil
    }

    var grading: Grading {
        if sameTail { return Grading(.family, .localBit, distance: 0) }
        if sameOUI, lowDistance <= Grading.nearDistance { return Grading(.family, .nearby, distance: lowDistance) }
        if sameMiddle, lowDistance <= Grading.nearDistance { return Grading(.family, .localBitNearby, distance: lowDistance) }
        if let bandDistance { return Grading(.family, .bandOctet, distance: bandDistance) }
        if sameOUI, lowDistance <= Grading.weakDistance { return Grading(.family, .nearby, distance: lowDistance) }
        if sameMiddle, lowDistance <= Grading.weakDistance { return Grading(.family, .localBitNearby, distance: lowDistance) }
        if sameOUI { return Grading(.vendor, .sameOUI, distance: lowDistance) }
        return Grading(.none, .unrelated, distance: nil)
    }
}
