import CLinux
import Glibc

/// Memory for many datagrams at once: one a loop, filled by one system call.
final class DatagramBatch {
    /// Datagrams a call: enough that a burst of a thousand answers takes a few dozen calls.
    static let capacity = 32
    private static let stride = UDPSocket.largestDatagram + 1
    private static let controlSize = 128

    private let payload = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity * stride, alignment: 16)
    private let control = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity * controlSize, alignment: 16)
    private let names = UnsafeMutableBufferPointer<sockaddr_storage>.allocate(capacity: capacity)
    private let vectors = UnsafeMutableBufferPointer<iovec>.allocate(capacity: capacity)
    private let messages = UnsafeMutableBufferPointer<clinux_mmsghdr>.allocate(capacity: capacity)

    init() {
        names.initialize(repeating: sockaddr_storage())
        messages.initialize(repeating: clinux_mmsghdr())
        for index in 0..<DatagramBatch.capacity {
            vectors.initializeElement(
                at: index,
                to: iovec(iov_base: payload.baseAddress! + index * DatagramBatch.stride, iov_len: DatagramBatch.stride))
        }
    }

    deinit {
        payload.deallocate()
        control.deallocate()
        names.deallocate()
        vectors.deallocate()
        messages.deallocate()
    }

    /// Fills the batch.
    ///
    /// - Returns: how many datagrams came; 0 when none waits.
    func receive(_ descriptor: Int32) throws(SystemError) -> Int {
        for index in 0..<DatagramBatch.capacity {
            // The kernel overwrites the lengths with what it used.
            messages[index].msg_hdr.msg_name = UnsafeMutableRawPointer(names.baseAddress! + index)
            messages[index].msg_hdr.msg_namelen = socklen_t(MemoryLayout<sockaddr_storage>.size)
            messages[index].msg_hdr.msg_iov = vectors.baseAddress! + index
            messages[index].msg_hdr.msg_iovlen = 1
            messages[index].msg_hdr.msg_control = control.baseAddress! + index * DatagramBatch.controlSize
            messages[index].msg_hdr.msg_controllen = DatagramBatch.controlSize
            messages[index].msg_hdr.msg_flags = 0
        }
        return try SystemCalls.receiveMany(descriptor, into: messages)
    }

    func bytes(_ index: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: payload.baseAddress! + index * DatagramBatch.stride, count: Int(messages[index].msg_len))
    }

    func source(_ index: Int) -> Endpoint? { Endpoint(names.baseAddress! + index) }

    func isOversize(_ index: Int) -> Bool {
        messages[index].msg_hdr.msg_flags & Int32(MSG_TRUNC) != 0 || Int(messages[index].msg_len) > UDPSocket.largestDatagram
    }

    /// The system's time of day at which the kernel had the datagram, in nanoseconds; nil where the socket doesn't ask for it.
    func arrival(_ index: Int) -> Int64? {
        let message = messages.baseAddress! + index
        var header = clinux_cmsg_first(&message.pointee.msg_hdr)
        while let current = header {
            if let data = UnsafeRawPointer(clinux_cmsg_data(current)), current.pointee.cmsg_level == SOL_SOCKET,
                current.pointee.cmsg_type == clinux_stamp_message()
            {
                let stamp = data.loadUnaligned(as: timespec.self)
                return Int64(stamp.tv_sec) * 1_000_000_000 + Int64(stamp.tv_nsec)
            }
            header = clinux_cmsg_next(&message.pointee.msg_hdr, current)
        }
        return nil
    }

    /// The interface that the datagram came in by; 0 when the kernel didn't say.
    func interface(_ index: Int) -> UInt32 {
        let message = messages.baseAddress! + index
        var header = clinux_cmsg_first(&message.pointee.msg_hdr)
        while let current = header {
            let data = UnsafeRawPointer(clinux_cmsg_data(current))
            if let data, current.pointee.cmsg_level == Int32(IPPROTO_IP), current.pointee.cmsg_type == IP_PKTINFO {
                return UInt32(bitPattern: data.loadUnaligned(as: in_pktinfo.self).ipi_ifindex)
            }
            if let data, current.pointee.cmsg_level == Int32(IPPROTO_IPV6), current.pointee.cmsg_type == IPV6_PKTINFO {
                return data.loadUnaligned(as: clinux_in6_pktinfo.self).ipi6_ifindex
            }
            header = clinux_cmsg_next(&message.pointee.msg_hdr, current)
        }
        return 0
    }
}
