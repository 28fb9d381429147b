import SocketCore

/// What is remembered of one router between runs.
public struct TrustRecord: Hashable, Sendable {
    /// It has finished a TLS handshake before: from then on, none is suspicious.
    public var hasSpokenTLS: Bool
    /// It was `company` before.
    public var wasProven: Bool
    /// SHA-256 of the public key that the user trusts it by (32 bytes), nil for none.
    public var pin: [UInt8]?
    /// Where it last proved itself: asked there as well when forged replies name other places. Nil for none.
    public var place: Endpoint?
    /// When any of this changed last.
    public var changed: WallTime

    /// A record as given.
    public init(hasSpokenTLS: Bool, wasProven: Bool = false, pin: [UInt8]? = nil, place: Endpoint? = nil, changed: WallTime) {
        self.hasSpokenTLS = hasSpokenTLS
        self.wasProven = wasProven
        self.pin = pin
        self.place = place
        self.changed = changed
    }

    /// A stranger can make as many of the lowest rank as it likes: those go first when there are too many.
    fileprivate var rank: Int { (wasProven ? 1 : 0) + (pin == nil ? 0 : 2) }
}

/// What is remembered for judging routers: who has spoken TLS, who is pinned, and how late it certainly is. A value; whoever
/// keeps it writes ``json`` to its state.
public struct TrustMemory: Equatable, Sendable {
    /// Routers remembered; as many as are known at most (design of the directory).
    public static let most = 4_096

    /// By the router's MAC.
    public private(set) var records: [MACAddress: TrustRecord] = [:]
    /// The clock's floor.
    public private(set) var floor: ClockFloor

    /// A memory of nothing.
    public init(floor: ClockFloor = ClockFloor()) { self.floor = floor }

    /// Routers that were proven before, or whose key the user trusts.
    public var proven: Set<MACAddress> { Set(records.filter { $0.value.wasProven || $0.value.pin != nil }.keys) }

    /// What is remembered of a router.
    public subscript(mac: MACAddress) -> TrustRecord? { records[mac] }

    /// Takes note of a judgement, made at `place` when the system's clock showed `now`. True when that changed something, so that the memory should be kept.
    @discardableResult
    public mutating func note(_ judgement: Judgement, of mac: MACAddress, at place: Endpoint? = nil, now: WallTime) -> Bool {
        var changed = false
        if judgement.verdict == .company {
            if let since = judgement.provenSince { changed = floor.raise(to: since) }
            changed = floor.keep(now) || changed
        }
        // An impostor's TLS says nothing of the router that it claims to be, nor does a stranger's where a root is configured.
        let speaks: Bool =
            switch judgement.verdict {
            case .company, .pinned, .unproven(.noRoot): judgement.certificate != nil
            default: false
            }
        guard speaks else { return changed }
        var record = records[mac] ?? TrustRecord(hasSpokenTLS: false, changed: now)
        let before = record
        record.hasSpokenTLS = true
        if judgement.verdict == .company { record.wasProven = true }
        // A link-local address is of use only with its interface, which another start may number differently.
        if judgement.isProof, let place, !place.address.isLinkLocal { record.place = place }
        guard record != before else { return changed }
        record.changed = now
        return store(record, for: mac) || changed
    }

    /// Takes over a floor that another has raised.
    public mutating func raise(to other: ClockFloor) { floor.raise(to: other.value) }

    /// A reply has offered TLS before, says somebody who remembers replies.
    public mutating func noteTLS(of mac: MACAddress, now: WallTime) {
        guard records[mac] == nil else { return }
        _ = store(TrustRecord(hasSpokenTLS: true, changed: now), for: mac)
    }

    /// Trusts the key of a router's certificate from now on: the user's decision. False when there are too many pins.
    @discardableResult
    public mutating func pin(_ certificate: CertificateFacts, for mac: MACAddress, now: WallTime) -> Bool {
        var record = records[mac] ?? TrustRecord(hasSpokenTLS: true, changed: now)
        record.hasSpokenTLS = true
        record.pin = certificate.keyFingerprint
        record.changed = now
        return store(record, for: mac)
    }

    /// Trusts a router's key no longer; that it spoke TLS stays known. False when it wasn't pinned.
    @discardableResult
    public mutating func unpin(_ mac: MACAddress, now: WallTime) -> Bool {
        guard var record = records[mac], record.pin != nil else { return false }
        record.pin = nil
        record.changed = now
        records[mac] = record
        return true
    }

    /// Forgets a router, the memory of its TLS included: the user's decision.
    @discardableResult
    public mutating func forget(_ mac: MACAddress) -> Bool { records.removeValue(forKey: mac) != nil }

    /// Keeps a record, at the expense of the least valuable and oldest one when there are too many.
    private mutating func store(_ record: TrustRecord, for mac: MACAddress) -> Bool {
        if records[mac] == nil, records.count >= TrustMemory.most {
            let least = records.min { left, right in
                (left.value.rank, left.value.changed, left.key) < (right.value.rank, right.value.changed, right.key)
            }
            guard let least, least.value.rank <= record.rank else { return false }
            records[least.key] = nil
        }
        records[mac] = record
        return true
    }
}

extension TrustMemory {
    /// For the state file: `{"floor":…,"routers":[{"mac":…,"proven":…,"pin":…,"place":…,"changed":…}]}`, by MAC.
    public var json: JSONValue {
        let routers = records.sorted { $0.key < $1.key }.map { mac, record in
            JSONValue.object([
                .init("mac", .string(mac.description)), .init("tls", .bool(record.hasSpokenTLS)), .init("proven", .bool(record.wasProven)),
                .init("pin", record.pin.map { .string(TrustMemory.hex($0)) } ?? .null),
                .init("place", record.place.map { .string($0.description) } ?? .null), .init("changed", .integer(record.changed.seconds)),
            ])
        }
        return .object([.init("floor", .integer(floor.value.seconds)), .init("routers", .array(routers))])
    }

    /// Reads what ``json`` wrote; nil when it wasn't written so. An entry that was left out would be a router whose pin or TLS is forgotten,
    /// which is what somebody who poses as it needs.
    public init?(json: JSONValue, release: WallTime = ClockFloor.releaseDate) {
        guard let routers = json["routers"]?.arrayValue, routers.count <= TrustMemory.most else { return nil }
        floor = ClockFloor(persisted: json["floor"]?.integerValue.map(WallTime.init(seconds:)), release: release)
        for entry in routers {
            guard let mac = entry["mac"]?.stringValue.flatMap(MACAddress.init) else { return nil }
            let pin = entry["pin"]?.stringValue.map(TrustMemory.bytes)
            if case .some(nil) = pin { return nil }
            records[mac] = TrustRecord(
                hasSpokenTLS: entry["tls"]?.boolValue ?? true, wasProven: entry["proven"]?.boolValue ?? false, pin: pin ?? nil,
                place: entry["place"]?.stringValue.flatMap { Endpoint($0) }, changed: WallTime(seconds: entry["changed"]?.integerValue ?? 0)
            )
        }
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private static func bytes(_ hex: String) -> [UInt8]? {
        let digits = Array(hex)
        guard digits.count == 64 else { return nil }
        let bytes = stride(from: 0, to: 64, by: 2).compactMap { UInt8(String(digits[$0..<($0 + 2)]), radix: 16) }
        return bytes.count == 32 ? bytes : nil
    }
}
