/// Takes packets out of a pcap or pcapng file as its bytes come.
///
/// ``append(_:)``, then ``next()`` until it gives nil, at last ``finish()``. The first error ends the file: every later call
/// repeats it. Memory stays within one packet and one append.
struct CaptureReader: Sendable {
    /// The largest packet that is put up with, in bytes: segmentation offload makes packets of up to 512 KiB.
    static let maximumPacketLength = 1 << 20

    /// One of the two is there.
    private var pcap: PcapParser?
    private var pcapng: PcapngParser?
    private var queue = ByteQueue()
    private var failure: CaptureError?

    /// A reader for a file that was recognised; nil for one that is no capture.
    init?(_ format: CaptureFormat) {
        switch format {
        case .raw: return nil
        case .pcap(let bigEndian, let ticks): pcap = PcapParser(bigEndian: bigEndian, ticksPerSecond: ticks)
        case .pcapng: pcapng = PcapngParser()
        }
    }

    mutating func append(_ bytes: [UInt8]) { queue.append(bytes) }

    /// The next packet; nil means: append more.
    mutating func next() throws(CaptureError) -> CapturedPacket? {
        if let failure { throw failure }
        do throws(CaptureError) {
            return if pcap != nil { try pcap?.next(from: &queue) } else { try pcapng?.next(from: &queue) }
        } catch {
            failure = error
            throw error
        }
    }

    /// Says that the file has ended; call it once ``next()`` has given nil.
    mutating func finish() throws(CaptureError) {
        if let failure { throw failure }
        let hasHeader = pcap.map { $0.linkType != nil } ?? true
        if hasHeader, queue.count == 0, !queue.isSkipping { return }
        let part: CaptureError.Part = pcap == nil ? .block : hasHeader ? .packet : .fileHeader
        let error = CaptureError.truncated(part: part, offset: queue.offset)
        failure = error
        throw error
    }
}

/// The pcap format: a header of 24 bytes, then packets with headers of 16 bytes.
///
///     file header    0 magic  4 major  6 minor  8 zone  12 accuracy  16 longest packet kept  20 link type (low 16 bits)
///     packet header  0 seconds  4 fraction  8 bytes that follow  12 bytes on the wire
struct PcapParser: Sendable {
    private static let fileHeaderLength = 24
    private static let packetHeaderLength = 16

    let bigEndian: Bool
    let ticksPerSecond: UInt64
    /// Known once the file header is read.
    private(set) var linkType: UInt16?

    init(bigEndian: Bool, ticksPerSecond: UInt64) {
        self.bigEndian = bigEndian
        self.ticksPerSecond = ticksPerSecond
    }

    mutating func next(from queue: inout ByteQueue) throws(CaptureError) -> CapturedPacket? {
        if linkType == nil {
            guard let field = queue.window(Self.fileHeaderLength)?.uint32(20, bigEndian: bigEndian) else { return nil }
            queue.skip(UInt64(Self.fileHeaderLength))
            linkType = UInt16(truncatingIfNeeded: field)
        }
        guard let linkType, let header = queue.window(Self.packetHeaderLength), let seconds = header.uint32(0, bigEndian: bigEndian),
            let fraction = header.uint32(4, bigEndian: bigEndian), let length = header.uint32(8, bigEndian: bigEndian),
            let original = header.uint32(12, bigEndian: bigEndian)
        else { return nil }
        guard length <= CaptureReader.maximumPacketLength else {
            throw .badLength(
                part: .packet, offset: queue.offset, declared: UInt64(length), limit: UInt64(CaptureReader.maximumPacketLength))
        }
        let whole = Self.packetHeaderLength + Int(length)
        guard let bytes = queue.window(whole)?.dropFirst(Self.packetHeaderLength) else { return nil }
        queue.skip(UInt64(whole))
        let ticks = UInt64(seconds) * ticksPerSecond + UInt64(fraction)
        return CapturedPacket(
            time: CaptureTime(ticks: ticks, ticksPerSecond: ticksPerSecond), linkType: linkType, bytes: bytes,
            originalLength: Int(max(length, original)))
    }
}
