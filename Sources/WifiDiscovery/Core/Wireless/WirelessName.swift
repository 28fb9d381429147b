/// A network's name as it is on the air: bytes that need not be text.
public struct WirelessName: Hashable, Sendable, CustomStringConvertible {
    /// At most 32 bytes (IEEE 802.11, the SSID element).
    public static let maximumLength = 32
    /// The SSID element's number.
    private static let elementNumber: UInt8 = 0

    /// The bytes.
    public let bytes: [UInt8]

    /// A name; longer ones than the standard allows are cut.
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes.prefix(WirelessName.maximumLength)) }

    /// The name among the information elements of a beacon (number, length, content, one behind the other); nil when
    /// there is none or the elements are cut off before it.
    init?(elements: ArraySlice<UInt8>) {
        var rest = elements
        while rest.count >= 2, let number = rest.first {
            let length = Int(rest[rest.startIndex + 1])
            guard rest.count >= 2 + length else { return nil }
            if number == WirelessName.elementNumber {
                self.init(rest.dropFirst(2).prefix(length))
                return
            }
            rest = rest.dropFirst(2 + length)
        }
        return nil
    }

    /// Empty, or filled with zeros: the access point keeps the name to itself.
    public var isHidden: Bool { bytes.allSatisfy { $0 == 0 } }

    /// For people: UTF-8 where it is, without control characters; empty when hidden.
    public var description: String {
        isHidden ? "" : DisplayText.clean(String(decoding: bytes, as: UTF8.self), limit: 3 * WirelessName.maximumLength)
    }
}
