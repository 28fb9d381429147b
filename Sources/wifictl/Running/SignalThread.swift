import Glibc

/// Turns SIGINT and SIGTERM into a `CancellationSignal`; a second one ends the process at once.
enum SignalThread {
    /// Call before any other thread exists: the mask set here is inherited, so that only this thread is ever interrupted.
    static func start(raising signal: CancellationSignal) {
        Glibc.signal(SIGPIPE, SIG_IGN)
        var awaited = sigset_t()
        sigemptyset(&awaited)
        sigaddset(&awaited, SIGINT)
        sigaddset(&awaited, SIGTERM)
        pthread_sigmask(SIG_BLOCK, &awaited, nil)

        var thread = pthread_t()
        let context = Unmanaged.passRetained(signal).toOpaque()
        let failure = pthread_create(&thread, nil, { SignalThread.run($0) }, context)
        guard failure == 0 else {
            // Without the thread nobody would hear Ctrl-C any more: give it its plain meaning back.
            pthread_sigmask(SIG_UNBLOCK, &awaited, nil)
            return
        }
        pthread_detach(thread)
    }

    private static func run(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let context else { return nil }
        let signal = Unmanaged<CancellationSignal>.fromOpaque(context).takeRetainedValue()
        var awaited = sigset_t()
        sigemptyset(&awaited)
        sigaddset(&awaited, SIGINT)
        sigaddset(&awaited, SIGTERM)
        while true {
            var number: Int32 = 0
            guard sigwait(&awaited, &number) == 0 else { continue }
            if !signal.raise(.interrupt), signal.cause == .interrupt { _exit(ExitStatus.interrupted.rawValue) }
        }
    }
}
