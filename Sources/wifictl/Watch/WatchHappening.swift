import SocketCore
import WifiDiscovery

/// What a watch hears, from whichever side: its one queue.
enum WatchHappening: Sendable {
    case scan(ScanEvent)
    /// The scan is over, with the reason where that is a failure.
    case scanEnded(String?)
    case terminal(TerminalInput.Event)
    /// Some time has gone by.
    case tick
    case trips([(mac: MACAddress, roundTrip: Duration?)])
    case finding(RouterVerifier.Finding)
    case signals([WatchInput])
    case session(SessionSource, SessionEvent)
    case counters(SessionCounters, unsettled: Int)
    /// Properties that a router reported, or was asked for.
    case changed(MACAddress, [JSONValue.Member])
    case remark(String, Paint?)
    /// Ctrl-C, SIGTERM, or nobody reads any more.
    case stop
}

/// The queue of a watch, and what fills it by itself.
final class WatchInbox: Sendable {
    /// Often enough that a change is seen at once, rarely enough that an idle screen costs nothing.
    static let tick = Duration.milliseconds(100)
    /// As many events as a scan keeps for a reader who falls behind, and the rest besides.
    private static let most = 2 * DiscoveryBounds.replies

    let happenings: AsyncStream<WatchHappening>
    private let continuation: AsyncStream<WatchHappening>.Continuation

    init() {
        (happenings, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(WatchInbox.most))
    }

    func tell(_ happening: WatchHappening) { continuation.yield(happening) }

    /// The scan's events until it ends; ticks, and the wish to end.
    func fill(from scan: RunningScan, _ cancellation: CancellationSignal) -> Task<Void, Never> {
        cancellation.onRaise { self.tell(.stop) }
        return Task {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        for try await event in scan.events { self.tell(.scan(event)) }
                        self.tell(.scanEnded(nil))
                    } catch { self.tell(.scanEnded("\(error)")) }
                }
                group.addTask {
                    // A cancelled sleep ends the ticking.
                    while (try? await Task.sleep(for: WatchInbox.tick)) != nil { self.tell(.tick) }
                }
            }
        }
    }
}
