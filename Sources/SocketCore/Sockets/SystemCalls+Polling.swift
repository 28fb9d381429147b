import Glibc

#if canImport(CLinux)
    import CLinux
#endif

extension SystemCalls {
    /// Blocks until the descriptor is ready, or broken, which the next call on it reports; false when the time is over.
    static func waitUntilReady(_ descriptor: Int32, _ readiness: Readiness, within limit: Duration) -> Bool {
        let deadline = monotonicNow() + limit
        var polled = pollfd(fd: descriptor, events: Int16(readiness.contains(.readable) ? POLLIN : POLLOUT), revents: 0)
        while true {
            let left = max(0, (deadline - monotonicNow()).inNanoseconds)
            let count = poll(&polled, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if count >= 0 { return count > 0 }
            guard errno == EINTR else { return true }
        }
    }

    /// Blocks the calling thread; a signal may end it early.
    public static func sleep(_ span: Duration) {
        _ = poll(nil, 0, Int32(clamping: max(0, span.inNanoseconds) / 1_000_000))
    }

    /// The monotonic clock that the loop's instants come from. It stands still while the machine sleeps, so that a
    /// laptop's lid doesn't look like a dead peer.
    public static func monotonicNow() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Lets the process hold as many descriptors as its hard limit allows, and as many as `wanted` where it may raise that too.
    ///
    /// - Returns: how many that are.
    @discardableResult
    public static func raiseDescriptorLimit(to wanted: Int = 0) -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1_024 }
        limit.rlim_cur = limit.rlim_max
        if limit.rlim_max < rlim_t(wanted) {
            var raised = rlimit(rlim_cur: rlim_t(wanted), rlim_max: rlim_t(wanted))
            // Refused to all but an administrator: then the hard limit it is.
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { return wanted }
        }
        _ = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return Int(clamping: limit.rlim_cur)
    }
}
