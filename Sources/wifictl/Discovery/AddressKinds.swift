import Glibc
import SocketCore
import WifiDiscovery

extension ValueKind where Value == MACAddress {
    /// A device's MAC in any spelling.
    static var mac: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            let address: MACAddress
            do throws(MACAddressError) { address = try MACAddress(parsing: text) } catch {
                throw ValueProblem("is no MAC address: \(error)", hint: "write 02:00:5e:00:53:01")
            }
            guard address.isUsableAsDevice else { throw ValueProblem("is no device's address", hint: "it is all zero, or a group's") }
            return address
        }
    }
}

/// What `--bssid` says about the access point that this machine is connected to.
enum LinkWish: Equatable, Sendable {
    case address(MACAddress)
    /// Ask the kernel.
    case auto
    /// Grade nothing.
    case none
}

extension ValueKind where Value == LinkWish {
    /// `auto`, `none`, or a BSSID in any spelling.
    static var linkWish: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            switch text {
            case "auto": return .auto
            case "none": return .none
            default:
                do throws(MACAddressError) { return .address(try MACAddress(parsing: text)) } catch {
                    throw ValueProblem("is no BSSID: \(error)", hint: "write 02:00:5e:00:53:11, auto or none")
                }
            }
        }
    }
}

extension ValueKind where Value == [Dialect] {
    /// Words of dialects with commas between, or `all`.
    static var dialects: ValueKind {
        let each: [(word: String, value: [Dialect])] = Dialect.allCases.map { ($0.rawValue, [$0]) }
        let words = ValueKind<[[Dialect]]>.list(of: ValueKind<[Dialect]>.choice(each + [("all", Dialect.allCases)]))
        return ValueKind(words: words.words) { (text) throws(ValueProblem) in try words.parse(text).flatMap { $0 } }
    }
}

extension ValueKind where Value == IPAddress {
    /// An IPv4 or IPv6 address; a scope may be an interface's name.
    static var address: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard case .address(let address, nil) = RouterReference(text) else {
                throw ValueProblem("is no IP address", hint: "write 192.168.1.1, fd00::1 or fe80::1%eth0")
            }
            return address
        }
    }
}

/// An address with a port only where one was written.
struct Place: Equatable, Sendable {
    let address: IPAddress
    let port: UInt16?
}

extension ValueKind where Value == Place {
    /// `address[:port]`, IPv6 in brackets where a port follows.
    static var place: ValueKind {
        ValueKind { (text) throws(ValueProblem) in
            guard case .address(let address, let port) = RouterReference(text) else {
                throw ValueProblem("is no IP address", hint: "write 192.168.1.1, 192.168.1.1:19510 or [fe80::1%eth0]:19510")
            }
            return Place(address: address, port: port)
        }
    }
}

extension IPAddress {
    /// The address for people and scripts: a scope is written as the interface's name, which outlives its number.
    func text(on interface: String) -> String {
        guard case .v6(_, _, let scope) = self, scope != 0 else { return description }
        return "\(unscoped)%\(interface)"
    }

    /// The same, the interface's name taken from the system.
    var text: String {
        guard case .v6(_, _, let scope) = self, scope != 0 else { return description }
        var name = [CChar](repeating: 0, count: Int(IF_NAMESIZE))
        guard if_indextoname(scope, &name) != nil else { return description }
        return text(on: String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}

/// Interfaces in texts that the library made, which knows them by number.
enum ScopeNames {
    /// The same text, with the names of the interfaces behind link-local addresses.
    static func put(into text: String) -> String {
        // Most texts have none, and needn't be searched.
        guard text.contains("%") else { return text }
        return text.replacing(/[fF][eE]80:[0-9a-fA-F:.]*%\d+/) { match in IPAddress(match.output)?.text ?? String(match.output) }
    }
}

extension Endpoint {
    /// `address:port` with the scope as a name.
    var text: String { address.isV4 ? description : "[\(address.text)]:\(port)" }
}

extension Context {
    /// `--group` as an address.
    func groupAddress() throws(UsageError) -> IPAddress? {
        guard let group else { return nil }
        guard let address = IPAddress(group), address.isMulticast else {
            throw UsageError(
                "--group: '\(group)' is no multicast address", hint: "the standard ones are 239.255.19.51 and ff12::1951",
                about: CommonOptions.group.name)
        }
        return address
    }
}
