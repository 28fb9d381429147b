import Glibc
import SocketCore

/// The outboxes of a state directory: one journal a router, and more where several processes talk to it at once.
public struct OutboxStore: Sendable {
    /// Processes that may talk to one router at once with a journal each; more are somebody's runaway script.
    static let slots = 8

    /// The directory that the journals lie in.
    public let directory: String

    /// The outboxes of a state directory, which need not exist yet.
    public init(home: String) { directory = home + "/outbox" }

    /// Opens the first journal of that router that no other process holds: what an earlier run left unsettled goes on.
    ///
    /// - Throws: `OutboxJournalError`; `OutboxJournalError.inUse(path:)` when all are held.
    public func open(_ mac: MACAddress) throws -> OutboxJournal {
        try StateFile(directory: directory, name: "any").makeDirectory()
        for slot in 1..<OutboxStore.slots {
            do throws(OutboxJournalError) { return try OutboxJournal.open(path(mac, slot)) } catch {
                guard case .inUse = error else { throw error }
            }
        }
        return try OutboxJournal.open(path(mac, OutboxStore.slots))
    }

    /// The routers for which a journal lies there.
    public var routers: [MACAddress] {
        guard let stream = opendir(directory) else { return [] }
        defer { closedir(stream) }
        var found: Set<MACAddress> = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".journal"), let mac = MACAddress(String(name.prefix(12))) { found.insert(mac) }
        }
        return found.sorted()
    }

    private func path(_ mac: MACAddress, _ slot: Int) -> String {
        let digits = mac.description.filter { $0 != ":" }
        return "\(directory)/\(digits)\(slot == 1 ? "" : "-\(slot)").journal"
    }
}
