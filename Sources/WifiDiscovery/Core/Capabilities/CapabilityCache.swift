import SocketCore

/// What routers were found to be able to do: good for as long as neither boot nor firmware changes.
public struct CapabilityCache: Equatable, Sendable {
    /// What a router must be the same in.
    public struct Identity: Hashable, Sendable {
        /// Which router.
        public var mac: MACAddress
        /// Its boot.
        public var boot: String
        /// Its firmware; nil when it says none.
        public var firmware: String?

        /// An identity.
        public init(_ mac: MACAddress, boot: String, firmware: String?) {
            self.mac = mac
            self.boot = boot
            self.firmware = firmware
        }
    }

    /// Routers that are kept: a few hundred kilobytes; who isn't kept is asked again.
    public static let capacity = 256
    /// Encoded capabilities larger than this aren't kept.
    public static let largestEntry = 32 << 10

    private struct Entry: Equatable, Sendable {
        var identity: Identity
        var capabilities: DeviceCapabilities
        /// Rises with each entry.
        var order: Int64
    }

    private var entries: [MACAddress: Entry] = [:]
    private var lastOrder: Int64 = 0

    /// An empty cache.
    public init() {}

    /// Routers in it.
    public var count: Int { entries.count }

    /// What that router can do, if it's still the one that was asked.
    public subscript(identity: Identity) -> DeviceCapabilities? {
        guard let entry = entries[identity.mac], entry.identity == identity else { return nil }
        return entry.capabilities
    }

    /// Keeps what a router has said; whatever was kept of an earlier boot or firmware goes.
    public mutating func keep(_ capabilities: DeviceCapabilities, of identity: Identity) {
        entries[identity.mac] = nil
        guard capabilities.json.encoded().count <= CapabilityCache.largestEntry else { return }
        if entries.count >= CapabilityCache.capacity, let oldest = entries.values.min(by: { $0.order < $1.order }) {
            entries[oldest.identity.mac] = nil
        }
        lastOrder += 1
        entries[identity.mac] = Entry(identity: identity, capabilities: capabilities, order: lastOrder)
    }

    // MARK: On disk

    private static let format: Int64 = 1

    /// Everything that is kept.
    public var json: JSONValue {
        let list = entries.values.sorted { $0.order < $1.order }.map { entry -> JSONValue in
            [
                "mac": .string("\(entry.identity.mac)"), "boot": .string(entry.identity.boot),
                "firmware": entry.identity.firmware.map { .string($0) } ?? .null, "capabilities": entry.capabilities.json,
            ]
        }
        return ["format": .integer(CapabilityCache.format), "routers": .array(list)]
    }

    /// Reads what ``json`` wrote. It's only a cache: what can't be read is asked for again.
    public init(json: JSONValue) {
        self.init()
        guard json["format"]?.integerValue == CapabilityCache.format else { return }
        for entry in json["routers"]?.arrayValue ?? [] {
            guard let mac = entry["mac"]?.stringValue.flatMap({ MACAddress($0) }), let boot = entry["boot"]?.stringValue,
                let capabilities = entry["capabilities"].flatMap(DeviceCapabilities.init)
            else { continue }
            keep(capabilities, of: Identity(mac, boot: boot, firmware: entry["firmware"]?.stringValue))
        }
    }
}
