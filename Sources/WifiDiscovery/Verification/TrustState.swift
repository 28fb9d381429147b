import SocketCore

/// What is trusted, as it's kept on disk beside the known routers: roots and revocation lists that the user added, and the memory that
/// judgements rest on. Under the key `trust` of the state file.
public struct TrustState: Sendable {
    /// Roots and lists kept at most: a company has a handful.
    public static let mostFiles = 64
    private static let key = "trust"

    /// A root or a list that the user added.
    public struct Item: Equatable, Sendable {
        /// What it is.
        public enum Kind: String, Sendable {
            /// One or more certificates that chains may end at.
            case root
            /// Revocation lists.
            case list
        }

        /// The name of the file that it came from.
        public var name: String
        /// What it is.
        public var kind: Kind
        /// Its PEM.
        public var pem: String

        /// An item.
        public init(name: String, kind: Kind, pem: String) {
            self.name = name
            self.kind = kind
            self.pem = pem
        }

        var bytes: TLSConfiguration.NamedBytes { TLSConfiguration.NamedBytes(name: name, bytes: Array(pem.utf8)) }
    }

    /// Everything kept.
    public struct Contents: Equatable, Sendable {
        /// Roots and lists, in the order added.
        public var items: [Item] = []
        /// Who has spoken TLS, and how late it certainly is.
        public var memory = TrustMemory()

        /// Roots to judge by.
        public var roots: [TLSConfiguration.NamedBytes] { items.filter { $0.kind == .root }.map(\.bytes) }
        /// Lists to judge by.
        public var revocationLists: [TLSConfiguration.NamedBytes] { items.filter { $0.kind == .list }.map(\.bytes) }
    }

    private let file: StateFile

    /// The trust of a state directory, which need not exist yet.
    public init(home: String) { file = StateFile(directory: home) }

    /// What is kept; empty when nothing was ever kept.
    ///
    /// - Throws: ``StateFileError``.
    public func load() throws -> Contents { TrustState.read(try file.read() ?? .object([])) }

    /// Reads, changes and writes it as one step that no other process can come between.
    ///
    /// - Throws: ``StateFileError``, or what `change` throws; nothing is written then.
    @discardableResult
    public func update<R>(_ change: (inout Contents) throws -> R) throws -> R {
        try file.update { state in
            var contents = TrustState.read(state)
            let before = contents
            let result = try change(&contents)
            guard contents != before else { return result }
            var members = (state.objectValue ?? []).filter { $0.name != TrustState.key }
            members.append(JSONValue.Member(TrustState.key, TrustState.json(contents)))
            state = .object(members)
            return result
        }
    }

    private static func json(_ contents: Contents) -> JSONValue {
        let items = contents.items.map { item in
            JSONValue.object([
                .init("name", .string(item.name)), .init("kind", .string(item.kind.rawValue)), .init("pem", .string(item.pem)),
            ])
        }
        return .object([.init("files", .array(items)), .init("memory", contents.memory.json)])
    }

    private static func read(_ state: JSONValue) -> Contents {
        var contents = Contents()
        guard let json = state[key] else { return contents }
        contents.items = (json["files"]?.arrayValue ?? []).prefix(mostFiles).compactMap { entry in
            guard let name = entry["name"]?.stringValue, let kind = entry["kind"]?.stringValue.flatMap(Item.Kind.init),
                let pem = entry["pem"]?.stringValue
            else { return nil }
            return Item(name: name, kind: kind, pem: pem)
        }
        if let memory = json["memory"] { contents.memory = TrustMemory(json: memory) }
        return contents
    }
}
