import SocketCore
import Synchronization

extension RouterConnection {
    /// What the router can do: asked once a boot and firmware, also over restarts of this process where state is kept.
    ///
    /// - Returns: nil for a device that doesn't tell.
    /// - Throws: ``CommandError``.
    public func capabilities() async throws(CommandError) -> DeviceCapabilities? {
        if let known = knownCapabilities() { return known }
        if let identity = identity(), identity == withoutCapabilities { return nil }
        let value: JSONValue
        do throws(CommandError) { value = try await request(.capabilities) } catch {
            guard case .refused = error else { throw error }
            withoutCapabilities = identity()
            return nil
        }
        guard let capabilities = DeviceCapabilities(value) else { throw .malformedAnswer("it's no list of capabilities") }
        if let identity = identity() { setup.capabilities.keep(capabilities, of: identity) }
        return capabilities
    }

    /// What is known without asking.
    func knownCapabilities() -> DeviceCapabilities? {
        guard let identity = identity() else { return nil }
        return setup.capabilities[identity]
    }

    /// Refuses what the router can't do.
    func check(_ request: DeviceRequest) async throws(CommandError) {
        if let refusal { throw refusal }
        if let obstacle = try await capabilities()?.obstacle(to: request) { throw obstacle }
    }

    /// The router as its hello names it; nil for a plain device, and before the session first stood.
    private func identity() -> CapabilityCache.Identity? {
        guard let router = opening?.router else { return nil }
        return CapabilityCache.Identity(mac, boot: router.identity.boot, firmware: router.identity.firmware)
    }
}

/// The capabilities of all routers, in memory and, where state is kept, in a file of its own: it's a cache, and may be deleted.
final class CapabilityStore: Sendable {
    private let file: StateFile?
    private let onRemark: @Sendable (String) -> Void
    private let cache: Mutex<CapabilityCache>

    init(home: String?, onRemark: @escaping @Sendable (String) -> Void = { _ in }) {
        self.onRemark = onRemark
        file = home.map { StateFile(directory: $0, name: "capabilities.json") }
        var kept = CapabilityCache()
        do { kept = try file?.read().map { CapabilityCache(json: $0) } ?? kept } catch {
            onRemark("what routers can do is asked anew: \(error)")
        }
        cache = Mutex(kept)
    }

    subscript(identity: CapabilityCache.Identity) -> DeviceCapabilities? { cache.withLock { $0[identity] } }

    func keep(_ capabilities: DeviceCapabilities, of identity: CapabilityCache.Identity) {
        cache.withLock { $0.keep(capabilities, of: identity) }
        do {
            try file?.update { state in
                // Another process may have kept more meanwhile.
                var all = CapabilityCache(json: state)
                all.keep(capabilities, of: identity)
                state = all.json
            }
        } catch { onRemark("what \(identity.mac) can do isn't kept: \(error)") }
    }
}
