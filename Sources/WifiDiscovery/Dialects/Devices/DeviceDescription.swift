import SocketCore

/// What a device says about itself in a foreign dialect. All of it is a claim.
public struct DeviceDescription: Equatable, Sendable {
    /// More services than any device offers; the rest is ignored.
    public static let maximumServices = 32
    /// More radios than any device has; the rest is ignored.
    public static let maximumBSSIDs = 16

    /// How it said it.
    public var dialect: Dialect
    /// The device's MAC, where the datagram has it and it can be a device's.
    public var mac: MACAddress?
    /// Addresses of its radios, where told.
    public var bssids: [MACAddress]
    /// Display name; empty when not told. Texts hold no control characters and at most 64 bytes.
    public var name: String
    /// Manufacturer; empty when not told.
    public var vendor: String
    /// Model; empty when not told.
    public var model: String
    /// Firmware version; empty when not told.
    public var firmware: String
    /// What it offers, each as its dialect names it.
    public var services: [String]
    /// What tells it apart from others of its kind (UPnP's UDN); empty when not told.
    public var identity: String
    /// Seconds since its start; nil when not told.
    public var uptime: Int?
    /// Where a longer description lies: always on the host that the datagram came from.
    public var location: HTTPLocation?
    /// Whether it says that it is a router or an access point, in whatever words.
    public var isRouter: Bool
    /// It says goodbye.
    public var isLeaving: Bool

    /// A description; texts are cleaned and lists cut to their bounds.
    public init(
        _ dialect: Dialect, mac: MACAddress? = nil, bssids: [MACAddress] = [], name: String = "", vendor: String = "", model: String = "",
        firmware: String = "", services: [String] = [], identity: String = "", uptime: Int? = nil, location: HTTPLocation? = nil,
        isRouter: Bool, isLeaving: Bool = false
    ) {
        let clean = { (text: String) in DisplayText.clean(text.trimmingASCIISpaces, limit: DisplayText.maximumNameBytes) }
        self.dialect = dialect
        self.mac = mac.flatMap { $0.isPlaceholder ? nil : $0 }
        self.bssids = Array(bssids.lazy.filter { !$0.isPlaceholder }.prefix(DeviceDescription.maximumBSSIDs))
        self.name = clean(name)
        self.vendor = clean(vendor)
        self.model = clean(model)
        self.firmware = clean(firmware)
        self.services = services.prefix(DeviceDescription.maximumServices).map(clean)
        self.identity = clean(identity)
        self.uptime = uptime
        self.location = location
        self.isRouter = isRouter
        self.isLeaving = isLeaving
    }
}

extension StringProtocol {
    /// Without spaces, tabs and line ends at either end.
    var trimmingASCIISpaces: String {
        let isSpace = { (byte: UInt8) in byte == 0x20 || (0x09...0x0D).contains(byte) }
        let bytes = Array(utf8.drop(while: isSpace))
        guard let last = bytes.lastIndex(where: { !isSpace($0) }) else { return "" }
        return String(decoding: bytes[...last], as: UTF8.self)
    }
}
