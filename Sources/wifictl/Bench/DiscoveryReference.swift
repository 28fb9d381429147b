import Glibc

/// A bare C program's datagrams over loopback: what `wifictl bench discovery` is measured against.
final class DiscoveryReference {
    private typealias RoundTrips = @convention(c) (Int, Int, UnsafeMutablePointer<UInt64>) -> Int32
    private typealias Receive = @convention(c) (UnsafePointer<UInt8>, Int, Int, UnsafeMutablePointer<UInt64>) -> UInt64

    static let sourcePath = "Fixtures/bench/discovery.c"

    private let handle: UnsafeMutableRawPointer
    private let roundTripsFunction: RoundTrips
    private let receiveFunction: Receive

    /// Compiles and loads the reference.
    init() throws(CReference.Absence) {
        let folder = try TemporaryFolder()
        let object = folder.path + "/reference.so"
        let source = try CReference.findSource(DiscoveryReference.sourcePath)
        let compiler = try CReference.compile(source, to: object, libraries: ["pthread"])
        guard let handle = dlopen(object, RTLD_NOW | RTLD_LOCAL) else {
            throw .refused(compiler: compiler, message: dlerror().map { String(cString: $0) } ?? "the compiled reference can't be loaded")
        }
        guard let roundTrips = dlsym(handle, "reference_round_trips"), let receive = dlsym(handle, "reference_receive") else {
            dlclose(handle)
            throw .refused(compiler: compiler, message: "\(source) lacks a function")
        }
        self.handle = handle
        roundTripsFunction = unsafeBitCast(roundTrips, to: RoundTrips.self)
        receiveFunction = unsafeBitCast(receive, to: Receive.self)
    }

    deinit { dlclose(handle) }

    /// Nanoseconds that datagrams of that size take there and back.
    func roundTrips(byteCount: Int, count: Int) throws(DiscoveryBench.Failure) -> [Double] {
        var samples = [UInt64](repeating: 0, count: count)
        guard roundTripsFunction(byteCount, count, &samples) == 1 else { throw DiscoveryBench.Failure("the reference in C got no answer") }
        return samples.map { Double($0) }
    }

    /// Nanoseconds of CPU time that it takes to receive one of at least `count` copies of a datagram.
    func receive(_ datagram: [UInt8], count: Int) throws(DiscoveryBench.Failure) -> Double {
        var received: UInt64 = 0
        let spent = datagram.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { receiveFunction($0, bytes.count, count, &received) } ?? 0
        }
        guard spent > 0, received > 0 else { throw DiscoveryBench.Failure("the reference in C received nothing") }
        return Double(spent) / Double(received)
    }
}
