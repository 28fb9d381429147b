/// One attribute of a netlink message.
struct NetlinkAttribute: Equatable {
    /// Without the flags for "nested" and "network byte order".
    var type: UInt16
    var value: ArraySlice<UInt8>

    /// The value as a number of at least that size; nil when it's shorter.
    var uint8: UInt8? { value.first }
    var uint16: UInt16? { value.native(UInt16.self, at: 0) }
    var uint32: UInt32? { value.native(UInt32.self, at: 0) }
    var int32: Int32? { value.native(Int32.self, at: 0) }

    /// The value up to its first NUL.
    var text: String { String(decoding: value.prefix { $0 != 0 }, as: UTF8.self) }

    /// The attributes that it holds.
    var nested: NetlinkAttributes { NetlinkAttributes(value) }
}

/// The attributes that fill a piece of a netlink message (`struct nlattr`, and `struct rtattr`, which is laid out alike).
///
///     offset  size  field
///     0       2     length of the attribute with this header
///     2       2     type; its two top bits are flags
///     4             value, padded to a multiple of four
struct NetlinkAttributes: Sequence {
    static let headerSize = 4
    static let typeMask: UInt16 = 0x3FFF

    private let bytes: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    static func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

    /// The first attribute of that type.
    subscript(type: UInt16) -> NetlinkAttribute? { first { $0.type == type } }

    func makeIterator() -> Iterator { Iterator(rest: bytes) }

    /// Walks the attributes; one whose length can't be right is the end.
    struct Iterator: IteratorProtocol {
        fileprivate var rest: ArraySlice<UInt8>

        mutating func next() -> NetlinkAttribute? {
            guard let length = rest.native(UInt16.self, at: 0).map(Int.init), length >= headerSize, length <= rest.count,
                let type = rest.native(UInt16.self, at: 2)
            else { return nil }
            let value = rest.prefix(length).dropFirst(headerSize)
            rest = rest.dropFirst(aligned(length))
            return NetlinkAttribute(type: type & typeMask, value: value)
        }
    }
}
