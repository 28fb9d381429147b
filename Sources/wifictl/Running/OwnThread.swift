import Glibc

/// Work that waits in system calls, on a thread of its own: the threads that tasks share are for those that don't.
enum OwnThread {
    private final class Job: Sendable {
        let work: @Sendable () -> Void
        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }

    /// Does `work` and returns what it gives; where no thread can be had, in the caller's.
    static func run<Result: Sendable>(_ work: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            let job = Unmanaged.passRetained(Job { continuation.resume(returning: work()) })
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { context in
                    if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().work() }
                    return nil
                }, job.toOpaque())
            guard failure == 0 else { return job.takeRetainedValue().work() }
            pthread_detach(thread)
        }
    }
}
