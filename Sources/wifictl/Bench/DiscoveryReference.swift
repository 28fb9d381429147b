/// A bare C program's datagrams over loopback: what `wifictl bench discovery` is measured against.
final class DiscoveryReference {
    private typealias RoundTrips = @convention(c) (Int, Int, UnsafeMutablePointer<UInt64>) -> Int32
    private typealias Receive = @convention(c) (UnsafePointer<UInt8>, Int, Int, UnsafeMutablePointer<UInt64>) -> UInt64

    private let library: CLibrary
    private let roundTripsFunction: RoundTrips
    private let receiveFunction: Receive

    init() throws(CLibrary.Absence) {
        library = try CLibrary("Fixtures/bench/discovery.c", libraries: ["pthread"])
        roundTripsFunction = try library.function("reference_round_trips", RoundTrips.self)
        receiveFunction = try library.function("reference_receive", Receive.self)
    }

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
