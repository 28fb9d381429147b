/// The server and the client on bare epoll that `wifictl bench session` measures the sessions against.
final class SessionReference: Sendable {
    private typealias Text = UnsafePointer<CChar>
    private typealias Listen = @convention(c) (UnsafeMutablePointer<UInt16>) -> Int32
    private typealias Serve = @convention(c) (Int32, Int32, Text) -> UInt64
    private typealias Connect = @convention(c) (UInt16, Text) -> OpaquePointer?
    private typealias Drive =
        @convention(c) (
            OpaquePointer, UInt32, UInt64, UnsafeMutablePointer<UInt64>?, Int, UnsafeMutablePointer<Int>
        ) -> UInt64
    private typealias Close = @convention(c) (OpaquePointer) -> Void

    private let listenFunction: Listen
    private let serveFunction: Serve
    private let connectFunction: Connect
    private let driveFunction: Drive
    private let closeFunction: Close

    /// It stays loaded: its threads may outlive whoever asked for it.
    init() throws(CLibrary.Absence) {
        let library = try CLibrary("Fixtures/bench/session.c", staysLoaded: true)
        listenFunction = try library.function("reference_session_listen", Listen.self)
        serveFunction = try library.function("reference_session_serve", Serve.self)
        connectFunction = try library.function("reference_session_connect", Connect.self)
        driveFunction = try library.function("reference_session_run", Drive.self)
        closeFunction = try library.function("reference_session_close", Close.self)
    }

    /// A listening socket on 127.0.0.1.
    func makeListener() throws -> (descriptor: Int32, port: UInt16) {
        var port: UInt16 = 0
        let descriptor = listenFunction(&port)
        guard descriptor >= 0 else { throw SessionBench.Failure(description: "the reference in C can't listen on 127.0.0.1") }
        return (descriptor, port)
    }

    /// Serves on the calling thread until `stop` is readable; both descriptors are closed then.
    func serve(_ listener: Int32, until stop: Int32, hello: String) { _ = serveFunction(listener, stop, hello) }

    /// A client that has said hello, confined to the thread that uses it.
    func connect(to port: UInt16, hello: String) throws -> Client {
        guard let handle = connectFunction(port, hello) else {
            throw SessionBench.Failure(description: "the client in C got no hello from port \(port)")
        }
        return Client(reference: self, handle: handle)
    }

    final class Client {
        private let reference: SessionReference
        private let handle: OpaquePointer

        fileprivate init(reference: SessionReference, handle: OpaquePointer) {
            self.reference = reference
            self.handle = handle
        }

        deinit { reference.closeFunction(handle) }

        /// Keeps `window` messages under way on the calling thread, then waits for the last receipts.
        func run(window: Int, nanoseconds: UInt64) throws -> LoadResult {
            var result = LoadResult()
            let latencies = [UInt64](unsafeUninitializedCapacity: LoadResult.largestLatencyCount) { buffer, count in
                result.messages = reference.driveFunction(
                    handle, UInt32(window), nanoseconds, buffer.baseAddress, buffer.count, &count)
            }
            guard result.messages > 0 else { throw SessionBench.Failure(description: "the client in C lost its connection") }
            result.latencies = latencies
            return result
        }
    }
}
