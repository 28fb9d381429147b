/// A JSON value (RFC 8259). Objects keep the order of their members, so that what is written reads as intended.
///
/// Why not the toolchain's coder: hello, probe and reply are judged in cores, which may not import Foundation, and
/// come from strangers, so that depth and size must be bounded before memory is spent.
public enum JSONValue: Equatable, Sendable {
    /// The value that stands for none.
    case null
    /// True or false.
    case bool(Bool)
    /// A number written without fraction and exponent that fits 64 bits.
    case integer(Int64)
    /// Any other number; always finite.
    case number(Double)
    /// Text.
    case string(String)
    /// Values in a row.
    case array([JSONValue])
    /// Members in the order they stand. Of members with one name the last counts.
    case object([Member])

    /// One member of an object.
    public struct Member: Equatable, Sendable {
        /// The member's name.
        public var name: String
        /// What it holds.
        public var value: JSONValue

        /// A member.
        public init(_ name: String, _ value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// An object's member of that name; nil when there is none or this is no object.
    public subscript(name: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members.last { $0.name == name }?.value
    }

    /// The text of a string.
    public var stringValue: String? { if case .string(let text) = self { text } else { nil } }
    /// The value of an integer.
    public var integerValue: Int64? { if case .integer(let value) = self { value } else { nil } }
    /// The value of an integer or another number.
    public var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .number(let value): value
        default: nil
        }
    }
    /// True or false.
    public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }
    /// The elements of an array.
    public var arrayValue: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The members of an object.
    public var objectValue: [Member]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral, ExpressibleByNilLiteral, ExpressibleByFloatLiteral
{
    /// A string.
    public init(stringLiteral value: String) { self = .string(value) }
    /// An integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// True or false.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// An array.
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    /// An object, its members in the order written.
    public init(dictionaryLiteral elements: (String, JSONValue)...) { self = .object(elements.map { Member($0.0, $0.1) }) }
    /// JSON's null.
    public init(nilLiteral: ()) { self = .null }
    /// A number.
    public init(floatLiteral value: Double) { self = .number(value) }
}
