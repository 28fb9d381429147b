import CLinux
import Glibc

extension SystemCalls {
    static func makeEpoll() throws(SystemError) -> FileDescriptor {
        FileDescriptor(owning: try check("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
    }

    static func makeEventDescriptor() throws(SystemError) -> FileDescriptor {
        FileDescriptor(
            owning: try check("eventfd") { eventfd(0, Int32(EFD_NONBLOCK) | Int32(EFD_CLOEXEC)) })
    }

    /// Wakes whoever polls the event descriptor. A full counter means that it is awake already.
    static func signal(_ descriptor: Int32) {
        var one: UInt64 = 1
        _ = uninterrupted { write(descriptor, &one, 8) }
    }

    /// Takes the event descriptor's count, so that it no longer polls as ready.
    static func drain(_ descriptor: Int32) {
        var count: UInt64 = 0
        _ = uninterrupted { read(descriptor, &count, 8) }
    }

    static func control(
        _ epoll: Int32, _ operation: Int32, _ target: Int32, events: UInt32, token: UInt64
    ) throws(SystemError) {
        var event = epoll_event(events: events, data: epoll_data_t(u64: token))
        try check("epoll_ctl") { epoll_ctl(epoll, operation, target, &event) }
    }

    /// Waits; a signal ends the wait early with nothing ready, so that the caller looks at its clock again.
    static func wait(
        _ epoll: Int32, into events: UnsafeMutableBufferPointer<epoll_event>, milliseconds: Int32
    ) throws(SystemError) -> Int {
        let count = epoll_wait(epoll, events.baseAddress, Int32(events.count), milliseconds)
        if count >= 0 { return Int(count) }
        guard errno == EINTR else { throw SystemError(function: "epoll_wait", code: errno) }
        return 0
    }

    /// What debuggers and top show the calling thread as.
    static func nameThisThread(_ name: String) { pthread_setname_np(pthread_self(), name) }
}
