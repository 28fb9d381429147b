import Glibc
import SocketCore

/// The outboxes of a state directory: one journal a router, and more where several processes talk to it at once.
public struct OutboxStore: Sendable {
    /// Processes that may talk to one router at once with a journal each; more wait, or go without: see ``WhenAllHeld``.
    static let slots = 8

    /// The directory that the journals lie in.
    public let directory: String
    private let onRemark: @Sendable (String) -> Void

    /// The outboxes of a state directory, which need not exist yet. `onRemark` is told what wasn't as it should be with a journal.
    public init(home: String, onRemark: @escaping @Sendable (String) -> Void = { _ in }) {
        directory = home + "/outbox"
        self.onRemark = onRemark
    }

    /// Opens a journal of that router that no other process holds, the first in which something waits or else the first: what an earlier
    /// run left unsettled goes on. One that a session of this configuration can't go on with stays as it is, with a remark.
    ///
    /// - Throws: `OutboxJournalError`; `OutboxJournalError.inUse(path:)` when all that fit are held.
    public func open(_ mac: MACAddress, for configuration: SessionConfiguration) throws -> OutboxJournal {
        try StateFile(directory: directory, name: "any").makeDirectory()
        var waiting: OutboxJournal?
        var empty: OutboxJournal?
        var (isHeld, unfit) = (false, OutboxJournalError?.none)
        // Those that are there before new ones, and all of them: who holds none but the first would leave what lies in the others.
        for (slot, isNew) in slots(mac).map({ ($0, false) }) + missingSlots(mac).map({ ($0, true) }) {
            if isNew, waiting != nil || empty != nil { break }
            do throws(OutboxJournalError) {
                let journal = try openToldOf(path(mac, slot))
                if let misfit = journal.contents?.misfit(configuration) { throw .unfit(path: journal.path, misfit) }
                if journal.hasMessages {
                    if waiting == nil { waiting = consume journal }
                } else if empty == nil {
                    empty = consume journal
                }
            } catch {
                switch error {
                case .inUse: isHeld = true
                case .unfit:
                    onRemark("\(error)")
                    unfit = error
                case .system: throw error
                }
            }
        }
        if let journal = waiting.take() { return journal }
        if let journal = empty.take() { return journal }
        // One that is held may become free; one that doesn't fit stays so.
        if let unfit, !isHeld { throw unfit }
        throw OutboxJournalError.inUse(path: path(mac, 1))
    }

    /// Opens the next journal of that router in which something waits and that nobody holds; nil when there is none. `seen` takes the paths
    /// that were looked at, which aren't again.
    ///
    /// - Throws: `OutboxJournalError`; `OutboxJournalError.unfit(path:_:)` for one that a session of this configuration can't go on with.
    func openWaiting(
        _ mac: MACAddress, for configuration: SessionConfiguration, besides seen: inout Set<String>
    ) throws(OutboxJournalError) -> OutboxJournal? {
        for slot in slots(mac) where seen.insert(path(mac, slot)).inserted {
            let journal: OutboxJournal
            do throws(OutboxJournalError) { journal = try openToldOf(path(mac, slot)) } catch {
                // Whoever holds it settles it.
                guard case .inUse = error else { throw error }
                continue
            }
            if let misfit = journal.contents?.misfit(configuration) { throw .unfit(path: journal.path, misfit) }
            if journal.hasMessages { return journal }
        }
        return nil
    }

    /// Throws away what waits for those routers: calls `body`, and deletes their journals when that has gone well.
    ///
    /// Until then all of them are held, so that nobody sends what is in them, nor loses what they take meanwhile.
    ///
    /// - Parameters:
    ///   - macs: whose journals.
    ///   - body: what has to have gone well before something is thrown away. It's told how many messages without an outcome that is, by
    ///     router; routers for which there are none aren't in it.
    /// - Returns: what `body` returns.
    /// - Throws: `OutboxJournalError`; `OutboxJournalError.inUse(path:)` when another process holds one, and nothing was done. What `body`
    ///   throws; nothing is deleted then.
    public func discard<R>(_ macs: some Collection<MACAddress>, after body: ([MACAddress: Int]) throws -> R) throws -> R {
        try discard(macs.flatMap { mac in slots(mac).map { (mac, $0) } }[...], [:], after: body)
    }

    /// Holds the first and goes on with the others, so that all are held when `body` is called.
    private func discard<R>(
        _ places: ArraySlice<(mac: MACAddress, slot: Int)>, _ counts: [MACAddress: Int], after body: ([MACAddress: Int]) throws -> R
    ) throws -> R {
        guard let place = places.first else { return try body(counts) }
        let journal = try openToldOf(path(place.mac, place.slot))
        var counts = counts
        if let contents = journal.contents, !contents.messages.isEmpty { counts[place.mac, default: 0] += contents.messages.count }
        let result = try discard(places.dropFirst(), counts, after: body)
        try journal.remove()
        return result
    }

    private func openToldOf(_ path: String) throws(OutboxJournalError) -> OutboxJournal {
        let journal = try OutboxJournal.open(path)
        for remark in journal.remarks { onRemark(remark) }
        return journal
    }

    private func slots(_ mac: MACAddress) -> [Int] { (1...OutboxStore.slots).filter { access(path(mac, $0), F_OK) == 0 } }
    private func missingSlots(_ mac: MACAddress) -> [Int] { (1...OutboxStore.slots).filter { access(path(mac, $0), F_OK) != 0 } }

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

extension OutboxJournal {
    /// Whether something in it has no outcome.
    fileprivate var hasMessages: Bool { contents?.messages.isEmpty == false }
}
