import SocketCore
import WifiDiscovery

/// What runs that talked to the same router at the same time have left unsettled in journals of their own, settled behind this run's own
/// messages: one session each.
actor SendLeftovers {
    private let manager: RouterManager
    private let place: SwitchCore.Target?
    private let output: Output
    private let cancellation: CancellationSignal
    private(set) var counts = SendRun.Counts()
    /// Journals whose messages this run's limit or layout can't send.
    private(set) var unfit = 0
    /// Why the last session didn't come about.
    private(set) var obstacle: String?

    /// `place`: where the router is; nil has it looked for, if there is anything for it.
    init(_ manager: RouterManager, at place: SwitchCore.Target?, _ context: Context) {
        self.manager = manager
        self.place = place
        output = context.output
        cancellation = context.cancellation
    }

    /// Returns false when one took longer than `patience`; what is behind it wasn't tried then.
    func settle(of mac: MACAddress, patience: Duration) async throws -> Bool {
        do {
            unfit = try await manager.withLeftovers(of: mac, at: place) { try await self.settle($0, of: mac, patience) }
            return true
        } catch is SendBodies.TimeIsUp { return false }
    }

    private func settle(_ session: Session, of mac: MACAddress, _ patience: Duration) async throws {
        let run = SendRun(session, mac: mac, output, wantsReceipt: true, expectsReplies: false)
        await run.begin()
        let nothing = SendBodies(words: [], takesLines: false, file: nil, largest: 0, patience: patience, cancellation)
        let result: Result<Void, any Error>
        do { result = .success(try await nothing.send(over: run)) } catch { result = .failure(error) }
        await run.end()
        counts.add(await run.counts)
        if let why = await run.obstacle { obstacle = why }
        try result.get()
    }
}
