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

    /// What is kept can't be read whole. Nothing is judged by the rest: without a root, everybody would be good enough.
    public struct Unreadable: Error, Equatable, Sendable, CustomStringConvertible {
        /// The state file.
        public let path: String
        /// What in it can't be read, such as `trust.files[2]`.
        public let what: String

        /// A sentence for people, with what to try.
        public var description: String {
            "\(path): \(what) can't be read, so that nothing is judged by what else is trusted there (was it written by a newer version? "
                + "Else move the file away, and add roots and lists anew)"
        }
    }

    private let file: StateFile

    /// The trust of a state directory, which need not exist yet.
    public init(home: String) { file = StateFile(directory: home) }

    /// What is kept; empty when nothing was ever kept.
    ///
    /// - Throws: ``StateFileError``, ``Unreadable``.
    public func load() throws -> Contents { try read(try file.read() ?? .object([])) }

    /// Reads, changes and writes it as one step that no other process can come between.
    ///
    /// - Throws: ``StateFileError``, ``Unreadable``, or what `change` throws; nothing is written then.
    @discardableResult
    public func update<R>(_ change: (inout Contents) throws -> R) throws -> R {
        try file.update { state in
            var contents = try read(state)
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

    private func read(_ state: JSONValue) throws(Unreadable) -> Contents {
        var contents = Contents()
        guard let members = state.objectValue else { throw unreadable("the state") }
        guard let json = members.first(where: { $0.name == TrustState.key })?.value else { return contents }
        guard let files = json["files"]?.arrayValue, files.count <= TrustState.mostFiles else { throw unreadable("trust.files") }
        for (index, entry) in files.enumerated() {
            guard let name = entry["name"]?.stringValue, let kind = entry["kind"]?.stringValue.flatMap(Item.Kind.init),
                let pem = entry["pem"]?.stringValue
            else { throw unreadable("trust.files[\(index)]") }
            contents.items.append(Item(name: name, kind: kind, pem: pem))
        }
        if let json = json["memory"] {
            guard let memory = TrustMemory(json: json) else { throw unreadable("trust.memory") }
            contents.memory = memory
        }
        return contents
    }

    private func unreadable(_ what: String) -> Unreadable { Unreadable(path: file.path, what: what) }
}
