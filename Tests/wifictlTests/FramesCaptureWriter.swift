import FrameCodec
import SocketCore

@testable import wifictl

/// Writes capture files of packets, in every form that the reader knows.
struct CaptureWriter {
    enum Form: CaseIterable, Sendable {
        case micro, microBig, nano, nanoBig, next, nextBig, nextNano, nextBinary, nextSimple, nextOld

        var isNext: Bool { ![.micro, .microBig, .nano, .nanoBig].contains(self) }
        var isBig: Bool { [.microBig, .nanoBig, .nextBig].contains(self) }
        var hasTimes: Bool { self != .nextSimple }
    }

    /// 2026-11-30T08:00:00Z.
    static let start: UInt64 = 1_796_025_600

    let form: Form
    let link: TestLink
    /// Bytes of each packet that are kept.
    var snaplen = 65_535
    private(set) var bytes: [UInt8] = []
    private var count: UInt64 = 0

    init(_ form: Form = .micro, _ link: TestLink = .ethernet, snaplen: Int = 65_535) {
        self.form = form
        self.link = link
        self.snaplen = snaplen
        if form.isNext { beginNext() } else { beginPcap() }
    }

    mutating func add(_ packets: [[UInt8]]) {
        for packet in packets { add(packet) }
    }

    /// Adds an IP packet; each is a millisecond and a half later than the one before.
    mutating func add(_ packet: [UInt8]) {
        let whole = link.wrap(packet)
        let kept = Array(whole.prefix(snaplen))
        let micros = count * 1_500
        let (second, micro) = (Self.start + micros / 1_000_000, micros % 1_000_000)
        count += 1
        switch form {
        case .micro, .microBig: bytes += four(UInt32(second)) + four(UInt32(micro)) + lengths(kept, whole) + kept
        case .nano, .nanoBig: bytes += four(UInt32(second)) + four(UInt32(micro * 1_000)) + lengths(kept, whole) + kept
        case .next, .nextBig: block(6, four(0) + ticks(second * 1_000_000 + micro) + lengths(kept, whole) + padded(kept))
        case .nextNano: block(6, four(0) + ticks((second * 1_000_000 + micro) * 1_000) + lengths(kept, whole) + padded(kept))
        // 1/1024 s: what the clock gives of a millisecond and a half, cut down.
        case .nextBinary: block(6, four(0) + ticks(second << 10 + micro << 10 / 1_000_000) + lengths(kept, whole) + padded(kept))
        case .nextSimple: block(3, four(UInt32(whole.count)) + padded(kept))
        case .nextOld: block(2, two(0) + two(0) + ticks(second * 1_000_000 + micro) + lengths(kept, whole) + padded(kept))
        }
    }

    private mutating func beginPcap() {
        let magic: UInt32 = form == .micro || form == .microBig ? 0xA1B2_C3D4 : 0xA1B2_3C4D
        bytes = four(magic) + two(2) + two(4) + four(0) + four(0) + four(UInt32(snaplen)) + four(UInt32(link.number))
    }

    private mutating func beginNext() {
        block(0x0A0D_0D0A, four(0x1A2B_3C4D) + two(1) + two(0) + four(.max) + four(.max))
        var options: [UInt8] = two(2) + two(4) + Array("eth0".utf8)
        if form == .nextNano { options += two(9) + two(1) + [9, 0, 0, 0] }
        if form == .nextBinary { options += two(9) + two(1) + [0x8A, 0, 0, 0] }
        block(1, two(link.number) + two(0) + four(UInt32(snaplen)) + options + four(0))
        // A block that says nothing about packets: readers pass over it.
        block(5, four(0) + four(0) + four(0))
    }

    private mutating func block(_ type: UInt32, _ content: [UInt8]) {
        let length = four(UInt32(content.count + 12))
        bytes += four(type) + length + content + length
    }

    private func ticks(_ value: UInt64) -> [UInt8] { four(UInt32(value >> 32)) + four(UInt32(truncatingIfNeeded: value)) }

    private func lengths(_ kept: [UInt8], _ whole: [UInt8]) -> [UInt8] { four(UInt32(kept.count)) + four(UInt32(whole.count)) }

    private func padded(_ bytes: [UInt8]) -> [UInt8] { bytes + [UInt8](repeating: 0, count: (4 - bytes.count % 4) % 4) }

    private func two(_ value: UInt16) -> [UInt8] {
        let bytes = [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
        return form.isBig ? bytes : bytes.reversed()
    }

    private func four(_ value: UInt32) -> [UInt8] {
        let halves = [two(UInt16(value >> 16)), two(UInt16(truncatingIfNeeded: value))]
        return Array((form.isBig ? halves : halves.reversed()).joined())
    }
}

/// Everything that came of a capture.
struct CaptureOutcome {
    var events: [CaptureEvent] = []
    var damage: CaptureError?
    var counts = CaptureCounts()

    /// Reads a capture file in pieces of the given size.
    init(_ file: [UInt8], _ settings: CaptureSettings = CaptureSettings(), pieces: Int = 1_000) {
        guard let format = CaptureFormat.recognise(file, ended: true), var reader = CaptureReader(format) else { return }
        var decoder = CaptureDecoder(settings)
        do throws(CaptureError) {
            for start in stride(from: 0, to: file.count, by: pieces) {
                reader.append(Array(file[start..<min(start + pieces, file.count)]))
                while let packet = try reader.next() { decoder.take(packet) { events.append($0) } }
            }
            try reader.finish()
        } catch {
            damage = error
        }
        decoder.finish { events.append($0) }
        counts = decoder.counts
    }

    /// The frames of one direction.
    func frames(_ direction: StreamPlace.Direction, stream: Int = 0) -> [Frame] {
        events.compactMap {
            if case .frame(let place, _, _, let frame) = $0, place.direction == direction, place.stream == stream { frame } else { nil }
        }
    }

    /// The times of all frames, as text.
    var times: [String?] {
        events.compactMap { event -> String?? in if case .frame(_, let time, _, _) = event { .some(time?.description) } else { nil } }
    }

    var errors: [FrameErrorReport] {
        events.compactMap { if case .error(_, _, let report) = $0 { report } else { nil } }
    }

    var losses: [StreamLoss] {
        events.compactMap { if case .loss(_, _, _, let loss) = $0 { loss } else { nil } }
    }

    var lateStarts: Int {
        events.count { if case .lateStart = $0 { true } else { false } }
    }

    var datagrams: [CapturedDatagram] {
        events.compactMap { if case .datagram(let datagram, _) = $0 { datagram } else { nil } }
    }

    /// What the ends of streams said: to the server, to the client.
    var ends: [(toServer: DirectionSummary, toClient: DirectionSummary)] {
        events.compactMap { if case .stream(_, let toServer, _, let toClient) = $0 { (toServer, toClient) } else { nil } }
    }
}
