import Glibc
import SocketCore

/// The list of known routers as it's kept on disk, shared by all processes that use one state directory.
///
/// ``DirectoryCore`` decides what is in it; this reads and writes it, under the key `directory` of the state file.
public struct RouterDirectory: Sendable {
    private static let key = "directory"

    /// The file that it lies in, beside other state.
    public let file: StateFile

    /// The directory of a state directory, which need not exist yet.
    public init(home: String) { self.init(file: StateFile(directory: home)) }

    /// The directory in a state file.
    public init(file: StateFile) { self.file = file }

    /// What is known; empty when nothing was ever kept.
    ///
    /// - Throws: ``StateFileError`` or ``DirectoryError``.
    public func load() throws -> DirectoryCore { try RouterDirectory.read(file.read() ?? .object([])) }

    /// Reads, changes and writes it as one step that no other process can come between.
    ///
    /// - Throws: ``StateFileError``, ``DirectoryError``, or what `change` throws; nothing is written then.
    @discardableResult
    public func update<R>(_ change: (inout DirectoryCore) throws -> R) throws -> R {
        try file.update { state in
            var directory = try RouterDirectory.read(state)
            let result = try change(&directory)
            var members = (state.objectValue ?? []).filter { $0.name != RouterDirectory.key }
            members.append(JSONValue.Member(RouterDirectory.key, directory.json))
            state = .object(members)
            return result
        }
    }

    /// Merges what a scan found: where no company root is configured. Where one is, anybody's word would make a name ambiguous or move a
    /// known router, and only proof counts: ``merge(proven:now:date:)``.
    ///
    /// - Parameters:
    ///   - routers: what was found.
    ///   - now: the scan's clock.
    ///   - date: the machine's.
    /// - Throws: what ``update(_:)`` throws.
    public func merge(_ routers: some Collection<FoundRouter>, now: Instant, date: WallTime = .systemNow()) throws {
        guard !routers.isEmpty else { return }
        try update { directory in
            for router in routers { directory.merge(router.discovered, interface: router.interface, now: now, date: date) }
        }
    }

    /// Merges routers that have proven whose they are.
    ///
    /// - Parameters:
    ///   - routers: what was found, each with the place where it has proven that.
    ///   - now: the scan's clock.
    ///   - date: the machine's.
    /// - Throws: what ``update(_:)`` throws.
    public func merge(
        proven routers: some Collection<(FoundRouter, Endpoint)>, now: Instant, date: WallTime = .systemNow()
    ) throws {
        guard !routers.isEmpty else { return }
        try update { directory in
            for (router, endpoint) in routers {
                directory.merge(router.discovered, provenAt: endpoint, interface: router.interface, now: now, date: date)
            }
        }
    }

    private static func read(_ state: JSONValue) throws(DirectoryError) -> DirectoryCore {
        guard let json = state[key] else { return DirectoryCore() }
        return try DirectoryCore(json: json)
    }
}

extension RouterReference {
    /// Reads what a person wrote to name a router; scopes may be interface names of this machine.
    public init(_ text: String) {
        self.init(parsing: text) { name in
            let index = if_nametoindex(name)
            return index == 0 ? nil : index
        }
    }
}
