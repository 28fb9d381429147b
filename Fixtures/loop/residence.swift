// Goes on on other threads after each await, as the parts of async functions do, and asks each time which loop's thread this is.
// Compiled with the sources that it's about, optimised; prints one line.

import Glibc

final class Job {
    let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

/// A thread that lives on for a while, so that no other gets its name.
func onNewThread(_ body: @escaping @Sendable () -> Void) {
    var thread = pthread_t()
    pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<Job>.fromOpaque(argument).takeRetainedValue().body()
            sleep(2)
            return nil
        }, Unmanaged.passRetained(Job(body)).toOpaque())
    pthread_detach(thread)
}

/// Each job on a thread of its own; every second one is the loop's.
final class Threads: SerialExecutor, TaskExecutor, @unchecked Sendable {
    static let shared = Threads()
    let residence: LoopResidence
    private let owner = Job {}
    private var jobs = 0
    /// Whether the job under way was given the loop's thread; there's one at a time.
    private(set) var isHome = false

    init() {
        do { residence = try LoopResidence(of: owner) } catch { fatalError("\(error)") }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs += 1
        let isHome = jobs % 2 == 1
        onNewThread { [self] in
            if isHome { residence.moveIn() }
            self.isHome = isHome
            job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
        }
    }
}

actor Wanderer {
    nonisolated var unownedExecutor: UnownedSerialExecutor { Threads.shared.asUnownedSerialExecutor() }

    func wander() async -> (asked: [Bool], true: [Bool]) {
        let threads = Threads.shared
        var (asked, home) = ([threads.residence.isHere], [threads.isHome])
        await elsewhere()
        asked.append(threads.residence.isHere)
        home.append(threads.isHome)
        await elsewhere()
        asked.append(threads.residence.isHere)
        home.append(threads.isHome)
        return (asked, home)
    }

    private func elsewhere() async {
        await withCheckedContinuation { continuation in onNewThread { continuation.resume() } }
    }
}

@main struct Residence {
    static func main() async {
        let found = await Task(executorPreference: Threads.shared) { await Wanderer().wander() }.value
        print(Set(found.true).count == 2 ? "both" : "one", found.asked == found.true ? "right" : "wrong: \(found)")
    }
}
