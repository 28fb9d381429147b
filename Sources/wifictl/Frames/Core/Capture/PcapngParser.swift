/// The pcapng format: blocks, each with its length at both ends; packets refer to interfaces that earlier blocks describe.
///
///     block             0 type  4 length of all  8 content, filled up to four bytes  (last 4) length again
///     section header    8 byte-order mark  12 major  14 minor
///     interface         8 link type  12 longest packet kept  16 options
///     enhanced packet   8 interface  12 time (high, low half)  20 bytes that follow  24 bytes on the wire  28 bytes
///     simple packet     8 bytes on the wire  12 bytes
///     old packet        8 interface (2 bytes)  12 time (high, low half)  20 bytes that follow  24 bytes on the wire  28 bytes
struct PcapngParser: Sendable {
    private enum BlockType {
        static let section: UInt32 = 0x0A0D_0D0A
        static let interface: UInt32 = 1
        static let oldPacket: UInt32 = 2
        static let simplePacket: UInt32 = 3
        static let enhancedPacket: UInt32 = 6
    }

    private struct Interface: Sendable {
        var linkType: UInt16
        var longestKept: UInt32
        var ticksPerSecond: UInt64 = 1_000_000
        var secondsOffset: Int64 = 0
    }

    /// What a block that must be whole in memory may have: a packet and generous options.
    private static let maximumBlockLength = CaptureReader.maximumPacketLength + (64 << 10)
    /// More interfaces than any machine captures on; without a bound, a file of nothing else would fill the memory.
    private static let maximumInterfaces = 65_536
    private static let shortestBlock: UInt32 = 12

    private var bigEndian = false
    private var interfaces: [Interface] = []

    mutating func next(from queue: inout ByteQueue) throws(CaptureError) -> CapturedPacket? {
        while let start = queue.window(8), let first = start.uint32(0, bigEndian: bigEndian) {
            if first == BlockType.section {
                guard let order = queue.window(12)?.uint32(8) else { return nil }
                guard order == 0x1A2B_3C4D || order == 0x4D3C_2B1A else { throw .badByteOrder(offset: queue.offset) }
                bigEndian = order == 0x1A2B_3C4D
            }
            guard let type = start.uint32(0, bigEndian: bigEndian), let length = start.uint32(4, bigEndian: bigEndian) else { return nil }
            guard length >= Self.shortestBlock, length % 4 == 0 else {
                throw .badLength(part: .block, offset: queue.offset, declared: UInt64(length), limit: UInt64(UInt32.max))
            }
            guard Self.isRead(type) else {
                queue.skip(UInt64(length))
                continue
            }
            guard length <= Self.maximumBlockLength else {
                throw .badLength(part: .block, offset: queue.offset, declared: UInt64(length), limit: UInt64(Self.maximumBlockLength))
            }
            guard let block = queue.window(Int(length)) else { return nil }
            let offset = queue.offset
            let again = block.uint32(Int(length) - 4, bigEndian: bigEndian) ?? 0
            guard again == length else { throw .lengthsDiffer(offset: offset, first: length, second: again) }
            queue.skip(UInt64(length))
            if let packet = try read(type, block.prefix(Int(length) - 4), offset) { return packet }
        }
        return nil
    }

    private static func isRead(_ type: UInt32) -> Bool {
        switch type {
        case BlockType.section, BlockType.interface, BlockType.oldPacket, BlockType.simplePacket, BlockType.enhancedPacket: true
        default: false
        }
    }

    /// Reads one block, its closing length already taken off.
    private mutating func read(_ type: UInt32, _ block: ByteWindow, _ offset: UInt64) throws(CaptureError) -> CapturedPacket? {
        switch type {
        case BlockType.section:
            guard let major = block.uint16(12, bigEndian: bigEndian), let minor = block.uint16(14, bigEndian: bigEndian) else {
                throw tooShort(block, offset, 28)
            }
            guard major == 1 else { throw .unknownVersion(offset: offset, major: major, minor: minor) }
            interfaces = []
            return nil
        case BlockType.interface:
            try addInterface(block, offset)
            return nil
        case BlockType.simplePacket:
            return try simplePacket(block, offset)
        default:
            return try timedPacket(block, offset, isOld: type == BlockType.oldPacket)
        }
    }

    private mutating func addInterface(_ block: ByteWindow, _ offset: UInt64) throws(CaptureError) {
        guard let linkType = block.uint16(8, bigEndian: bigEndian), let kept = block.uint32(12, bigEndian: bigEndian) else {
            throw tooShort(block, offset, 20)
        }
        guard interfaces.count < Self.maximumInterfaces else {
            throw .badLength(
                part: .interfaces, offset: offset, declared: UInt64(interfaces.count) + 1, limit: UInt64(Self.maximumInterfaces))
        }
        var interface = Interface(linkType: linkType, longestKept: kept)
        var position = 16
        while let code = block.uint16(position, bigEndian: bigEndian), code != 0,
            let length = block.uint16(position + 2, bigEndian: bigEndian)
        {
            if code == 9, length == 1, let value = block.uint8(position + 4), let ticks = Self.ticksPerSecond(value) {
                interface.ticksPerSecond = ticks
            } else if code == 14, length == 8, let value = block.uint64(position + 4, bigEndian: bigEndian) {
                interface.secondsOffset = Int64(bitPattern: value)
            }
            position += 4 + (Int(length) + 3) / 4 * 4
        }
        interfaces.append(interface)
    }

    /// The resolution option: a power of ten, or of two where the top bit is set. One too fine for 64 bits is passed over.
    private static func ticksPerSecond(_ value: UInt8) -> UInt64? {
        let exponent = UInt64(value & 0x7F)
        if value & 0x80 != 0 { return exponent < 64 ? 1 << exponent : nil }
        guard exponent <= 19 else { return nil }
        return (0..<exponent).reduce(UInt64(1)) { power, _ in power * 10 }
    }

    private func simplePacket(_ block: ByteWindow, _ offset: UInt64) throws(CaptureError) -> CapturedPacket {
        let interface = try interface(0, offset)
        guard let original = block.uint32(8, bigEndian: bigEndian), let content = block.dropFirst(12) else {
            throw tooShort(block, offset, 16)
        }
        let kept = interface.longestKept == 0 ? original : min(original, interface.longestKept)
        return CapturedPacket(
            time: nil, linkType: interface.linkType, bytes: content.prefix(Int(kept)), originalLength: Int(original))
    }

    private func timedPacket(_ block: ByteWindow, _ offset: UInt64, isOld: Bool) throws(CaptureError) -> CapturedPacket {
        let index = isOld ? block.uint16(8, bigEndian: bigEndian).map { Int($0) } : block.uint32(8, bigEndian: bigEndian).map { Int($0) }
        guard let index, let high = block.uint32(12, bigEndian: bigEndian), let low = block.uint32(16, bigEndian: bigEndian),
            let length = block.uint32(20, bigEndian: bigEndian), let original = block.uint32(24, bigEndian: bigEndian),
            let content = block.dropFirst(28)
        else { throw tooShort(block, offset, 32) }
        let interface = try interface(index, offset)
        guard length <= content.count else {
            throw .badLength(part: .packet, offset: offset, declared: UInt64(length), limit: UInt64(content.count))
        }
        let time = CaptureTime(
            ticks: UInt64(high) << 32 | UInt64(low), ticksPerSecond: interface.ticksPerSecond, offset: interface.secondsOffset)
        return CapturedPacket(
            time: time, linkType: interface.linkType, bytes: content.prefix(Int(length)), originalLength: Int(max(length, original)))
    }

    private func interface(_ index: Int, _ offset: UInt64) throws(CaptureError) -> Interface {
        guard interfaces.indices.contains(index) else {
            throw .unknownInterface(offset: offset, index: index, count: interfaces.count)
        }
        return interfaces[index]
    }

    private func tooShort(_ block: ByteWindow, _ offset: UInt64, _ least: UInt64) -> CaptureError {
        .badLength(part: .block, offset: offset, declared: UInt64(block.count) + 4, limit: least)
    }
}
