import SocketCore
import TestSupport
import Testing

/// A router that speaks none of our versions, or another router than the one that is meant: dialling again changes nothing.
@Suite("Sessions that a hello turns down", .timeLimit(.minutes(10)))
struct TurnedDownTests {
    enum Fault: CaseIterable, Sendable { case version, otherRouter }

    private func router(_ fault: Fault) async throws -> (EchoRouter, Endpoint) {
        var configuration = SessionConfiguration(role: .router)
        if fault == .version { configuration.versions = [7] }
        let router = EchoRouter(configuration)
        return (router, try await router.open())
    }

    /// A controller that means another router than the one that answers, where that's the fault.
    private func ours(_ fault: Fault) -> SessionConfiguration {
        .hasty { if fault == .otherRouter { $0.expectedMAC = "02:00:5e:00:53:99" } }
    }

    /// How it's closed by itself, and how often it dialled before.
    private func end(of session: Session) async -> (LossReason?, dials: Int) {
        var dials = 0
        await session.start()
        for await batch in session.events {
            for case .state(let state) in batch {
                if case .connecting = state { dials += 1 }
                guard case .closed(let reason) = state else { continue }
                // Returns when the journal is given back.
                await session.close()
                return (reason, dials)
            }
        }
        return (nil, dials)
    }

    private func isNamed(_ reason: LossReason?, _ fault: Fault) -> Bool {
        guard case .refused(let text) = reason else { return false }
        return text.contains(fault == .version ? "none of our protocol versions, only [7]" : "02:00:5e:00:53:01 answers")
    }

    @Test(arguments: Fault.allCases)
    func `where it can only be there, or is seen there again, that's the end, and what waits is kept`(fault: Fault) async throws {
        let (router, endpoint) = try await router(fault)
        let home = try TemporaryDirectory()
        let path = home.file("outbox.journal")
        for resolver in [nil, { @Sendable _ in endpoint }] as [Session.Resolver?] {
            let session = try Session(to: endpoint, ours(fault), journal: try OutboxJournal.open(path), resolver: resolver)
            _ = try await session.post([1])
            let (reason, dials) = await end(of: session)
            #expect(isNamed(reason, fault), "\(String(describing: reason))")
            #expect(dials == 2, "once, and once more to find that nothing has changed")
        }
        #expect(try OutboxJournal.open(path).contents?.messages.map(\.msgId) == [1, 2])
        await router.listener.close()
    }

    @Test func `where it isn't seen, somebody else may have its address: it's dialled on`() async throws {
        let (wrong, place) = try await router(.version)
        let right = EchoRouter()
        let elsewhere = try await right.open()
        // It's seen again with the fifth look.
        let session = Session(to: place, .hasty()) { attempt in attempt < 6 ? nil : elsewhere }
        await session.start()
        #expect(try await session.send([1]).result == .delivered)
        await session.close()
        for _ in 1..<6 { #expect(await wrong.door.next()?.hasPrefix("refused") == true) }
        await wrong.listener.close()
        await right.listener.close()
    }
}
