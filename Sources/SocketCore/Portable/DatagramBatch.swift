import Glibc

/// Memory for many datagrams: one a loop, filled by one system call each.
final class DatagramBatch {
    /// Datagrams a round: enough that a burst of answers takes few rounds.
    static let capacity = 32
    private static let stride = UDPSocket.largestDatagram + 1

    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity * stride, alignment: 16)
    private let names = UnsafeMutableBufferPointer<sockaddr_storage>.allocate(capacity: capacity)
    private var lengths = [Int](repeating: 0, count: capacity)

    init() { names.initialize(repeating: sockaddr_storage()) }

    deinit {
        payload.deallocate()
        names.deallocate()
    }

    /// Fills the batch.
    ///
    /// - Returns: how many datagrams came; 0 when none waits.
    func receive(_ descriptor: Int32) throws(SystemError) -> Int {
        for index in 0..<DatagramBatch.capacity {
            guard let count = try SystemCalls.receiveDatagram(descriptor, into: room(index), from: names.baseAddress! + index) else {
                return index
            }
            lengths[index] = count
        }
        return DatagramBatch.capacity
    }

    private func room(_ index: Int) -> UnsafeMutableRawBufferPointer {
        UnsafeMutableRawBufferPointer(rebasing: payload[index * DatagramBatch.stride..<(index + 1) * DatagramBatch.stride])
    }

    func bytes(_ index: Int) -> UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: room(index)[..<lengths[index]]) }

    func source(_ index: Int) -> Endpoint? { Endpoint(names.baseAddress! + index) }

    func isOversize(_ index: Int) -> Bool { lengths[index] > UDPSocket.largestDatagram }

    /// Not known without control messages.
    func arrival(_ index: Int) -> Int64? { nil }

    /// Not known without control messages: the socket's own interface counts.
    func interface(_ index: Int) -> UInt32 { 0 }
}
