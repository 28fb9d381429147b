/// Why a capture file can't be read on. `offset` is where in the file the trouble begins, in bytes.
enum CaptureError: Error, Equatable, Sendable {
    /// The file ends inside `part`.
    case truncated(part: Part, offset: UInt64)
    /// A length that nothing in a sound file has.
    case badLength(part: Part, offset: UInt64, declared: UInt64, limit: UInt64)
    /// A block whose length stands differently at its end than at its start.
    case lengthsDiffer(offset: UInt64, first: UInt32, second: UInt32)
    /// A section that is written in a later way than the one known.
    case unknownVersion(offset: UInt64, major: UInt16, minor: UInt16)
    /// A packet of an interface that the file doesn't describe.
    case unknownInterface(offset: UInt64, index: Int, count: Int)
    /// A section's byte-order mark that is none.
    case badByteOrder(offset: UInt64)

    enum Part: String, Sendable {
        case fileHeader = "the file header"
        case packet = "a packet"
        case block = "a block"
        case interfaces = "the list of interfaces"
    }
}

extension CaptureError: CustomStringConvertible {
    var description: String {
        switch self {
        case .truncated(let part, let offset): "the file ends inside \(part.rawValue) that begins at byte \(offset)"
        case .badLength(let part, let offset, let declared, let limit):
            "\(part.rawValue) at byte \(offset) has a length of \(declared), and \(limit) is the limit"
        case .lengthsDiffer(let offset, let first, let second):
            "the block at byte \(offset) has a length of \(first) at its start and \(second) at its end"
        case .unknownVersion(let offset, let major, let minor): "the section at byte \(offset) has version \(major).\(minor)"
        case .unknownInterface(let offset, let index, let count):
            "the packet at byte \(offset) came from interface \(index), but \(count) are described"
        case .badByteOrder(let offset): "the section at byte \(offset) has no byte-order mark"
        }
    }

    /// The error's name in JSON Lines.
    var name: String {
        if case .truncated = self { "captureTruncated" } else { "captureDamaged" }
    }

    var offset: UInt64 {
        switch self {
        case .truncated(_, let offset), .badLength(_, let offset, _, _), .lengthsDiffer(let offset, _, _),
            .unknownVersion(let offset, _, _), .unknownInterface(let offset, _, _), .badByteOrder(let offset):
            offset
        }
    }
}
