import Glibc

/// A thread for what waits in the kernel: a task that does would hold up a thread of the pool.
enum OwnThread {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a thread of its own.
    ///
    /// - Returns: false when there's none to be had.
    static func run(_ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let failure = pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// What `body` gives, on a thread of its own; where there's none to be had, in the caller's.
    static func result<Result: Sendable>(of body: @escaping @Sendable () -> Result) async -> Result {
        await withCheckedContinuation { continuation in
            if !run({ continuation.resume(returning: body()) }) { continuation.resume(returning: body()) }
        }
    }
}
