import SocketCore

/// How requests and their answers look on the wire of one kind of device.
public struct CommandEncoding: Sendable {
    /// A request as a body; nil when this kind of device has no such request.
    public var encode: @Sendable (DeviceRequest) -> [UInt8]?
    /// A body from the device; nil when it's neither an answer nor news: opaque then, and no error.
    public var decode: @Sendable ([UInt8]) -> DeviceReply?

    /// An encoding.
    public init(encode: @escaping @Sendable (DeviceRequest) -> [UInt8]?, decode: @escaping @Sendable ([UInt8]) -> DeviceReply?) {
        self.encode = encode
        self.decode = decode
    }

    /// The sample vocabulary (protocol.md, section 7).
    public static let sample = CommandEncoding(encode: { $0.encoded() }, decode: { DeviceReply($0) })
}

/// Which encoding a device understands, by the protocol version that was agreed and by its firmware: one command reaches devices of
/// different age.
public struct CommandEncodings: Sendable {
    /// One row.
    public struct Rule: Sendable {
        /// Agreed versions that it's for.
        public var versions: ClosedRange<UInt16>
        /// Firmware that it's for; nil for all. What a device says about itself is given; nil when it says nothing.
        public var firmware: (@Sendable (String?) -> Bool)?
        /// The encoding.
        public var encoding: CommandEncoding

        /// A row.
        public init(
            versions: ClosedRange<UInt16>, firmware: (@Sendable (String?) -> Bool)? = nil, _ encoding: CommandEncoding
        ) {
            self.versions = versions
            self.firmware = firmware
            self.encoding = encoding
        }
    }

    /// The rows, the most special first: the first that fits counts.
    public var rules: [Rule]

    /// A table.
    public init(_ rules: [Rule]) { self.rules = rules }

    /// The sample vocabulary for everything.
    public static let sample = CommandEncodings([Rule(versions: 1...UInt16.max, .sample)])

    /// The encoding for a device; nil when there's none.
    public func encoding(version: UInt16, firmware: String?) -> CommandEncoding? {
        rules.first { $0.versions.contains(version) && $0.firmware?(firmware) ?? true }?.encoding
    }
}
