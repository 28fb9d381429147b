import SocketCore
import WifiDiscovery

/// The options of commands that scan.
enum ScanOptions {
    static let bssid = RepeatedOption(
        "bssid", "MAC", .linkWish,
        "the access point that this machine is connected to; auto, which is the default, asks the system, and none grades nothing")
    static let dialect = DefaultedOption(
        "dialect", "LIST", ValueKind.dialects, default: [Dialect.native], shown: "native",
        "in which languages to ask: native, ssdp, mdns, mndp, ubnt with commas between, or all")
    static let span = DefaultedOption("for", "TIME", .duration, default: Duration.seconds(3), shown: "3s", "how long to look")

    /// The commands whose --bssid and --for mean these.
    static let commands: Set<String> = ["discover", "verify", "switch", "watch", "report", "config"]

    /// Where and how to look, as the common options and --bssid say.
    static func discovery(_ arguments: Arguments, _ context: Context) throws -> RouterDiscovery.Options {
        var options = RouterDiscovery.Options()
        options.interfaces = context.interfaces
        options.link = try link(arguments[bssid])
        options.group = try context.groupAddress()
        options.port = context.port ?? DiscoveryDatagram.port
        // A state that can't be read is told where it's needed; a scan works without it.
        if let trust = try? TrustState(home: context.home).load() { options.expected = trust.memory.proven }
        return options
    }

    /// Does `body`; an interface that isn't there is told with the one that was probably meant.
    static func naming<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw named(error) }
    }

    /// The same of an error; any other as it is.
    static func named(_ error: any Error) -> any Error {
        switch error {
        case DiscoveryError.noSuchInterface(let name, let known):
            let near = Suggestion.nearest(to: name, among: known)
            return ToolError(
                "there is no interface \(name)", hint: near.map { "did you mean \($0)?" } ?? "there are \(known.joined(separator: ", "))",
                about: CommonOptions.interface.name)
        case DiscoveryError.nothingToScan, ResponderError.noInterface: return ToolError("\(error)", about: CommonOptions.interface.name)
        case ResponderError.cannotBind: return ToolError("\(error)", about: CommonOptions.port.name)
        default: return error
        }
    }

    private static func link(_ wishes: [LinkWish]) throws(UsageError) -> RouterDiscovery.Link {
        let addresses = Set(wishes.compactMap { wish in if case .address(let address) = wish { address } else { nil } })
        if addresses.isEmpty { return wishes.contains(.none) ? .addresses([]) : .automatic }
        guard !wishes.contains(.auto), !wishes.contains(.none) else {
            throw UsageError(
                "--bssid: addresses don't go together with auto or none", hint: "give addresses, or one of the words", about: bssid.name)
        }
        return .addresses(addresses)
    }
}
