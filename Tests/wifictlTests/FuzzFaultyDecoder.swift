import FrameCodec

@testable import wifictl

/// A plain frame decoder that can be given one fault at a time: the mistakes that real decoders have been shipped with.
struct FaultyDecoder: DecoderUnderTest, ~Copyable {
    enum Fault: String, CaseIterable, Sendable {
        case acceptsOneOverLimit, refusesTheLimit, signedLength, lengthIn16Bits, sumWraps, lengthCountsHeader
        case versionUnchecked, versionZeroAccepted, limitBeforeVersion, idInWrongOrder
        case signAccepted, innerSpaceAccepted, emptyDigitsAreZero, leadingNulAccepted, digitsStopAtThree
        case oneFrameARead, emptyBodyWaits, lostTail, lostShortTail, lastBodyByteStale, splitHeaderForgotten, emptyReadResets
        case ignoresStop, deliversAfterError, forgivesOnAppend, keepsAfterError, silentTruncation, needWithoutHeader
        case sameFrameForever, offsetWithoutHeaders, quadraticBuffer, allocatesDeclared, neverFrees
    }

    let layout: FrameLayout
    let limits: FrameLimits
    /// Nil is a decoder without a fault.
    let fault: Fault?
    private(set) var frameOffset: UInt64 = 0
    private(set) var failure: FrameError?
    private(set) var capacity = 0
    private(set) var copiedByteCount: UInt64 = 0
    private var held: [UInt8] = []
    private var keptAfterError = 0

    init(_ layout: FrameLayout, _ limits: FrameLimits, fault: Fault?) {
        self.layout = layout
        self.limits = limits
        self.fault = fault
    }

    var heldByteCount: Int { held.count + keptAfterError }

    mutating func decode(_ input: RawSpan, _ take: (FrameHeader, RawSpan) -> FrameDecoder.Flow) throws(FrameError) -> Int {
        let before = held.count
        try append(input)
        var delivered = 0
        while true {
            guard let frame = try step() else { break }
            delivered += 1
            let flow = take(frame.header, frame.body.span.bytes)
            if fault == .oneFrameARead { break }
            if flow == .stop, fault != .ignoresStop {
                // What wasn't used goes back to the caller; what was held before stays.
                let rest = min(held.count, input.byteCount)
                held.removeLast(rest)
                return input.byteCount - rest
            }
        }
        if fault == .lostTail, delivered > 0, before == 0 { held = [] }
        if fault == .lostShortTail, held.count < FrameHeader.byteCount, delivered > 0 { held = [] }
        return input.byteCount
    }

    mutating func append(_ input: RawSpan) throws(FrameError) {
        if let failure {
            if fault == .keepsAfterError { keptAfterError += input.byteCount }
            if fault == .forgivesOnAppend { return }
            if fault != .deliversAfterError { throw failure }
        }
        if fault == .emptyReadResets, input.byteCount == 0 { held = [] }
        if fault == .splitHeaderForgotten, (1..<4).contains(held.count) { held[0] = 0 }
        input.withUnsafeBytes { held.append(contentsOf: $0) }
        capacity = fault == .neverFrees ? capacity + input.byteCount : max(capacity, held.count)
        copiedByteCount += UInt64(fault == .quadraticBuffer ? held.count : input.byteCount)
    }

    mutating func pull(_ take: (FrameHeader, RawSpan) -> Void) throws(FrameError) -> Bool {
        guard let frame = try step() else { return false }
        take(frame.header, frame.body.span.bytes)
        return true
    }

    mutating func finish() throws(FrameError) {
        if let failure { throw failure }
        guard !held.isEmpty, fault != .silentTruncation else { return }
        var need = FrameHeader.byteCount
        if held.count >= FrameHeader.byteCount {
            let length = try header().bodyLength
            need = fault == .needWithoutHeader ? length : FrameHeader.byteCount + length
        }
        let error = FrameError.truncated(have: held.count, need: need)
        failure = error
        held = []
        throw error
    }

    mutating func shrink() {}

    private mutating func step() throws(FrameError) -> Frame? {
        if let failure, fault != .deliversAfterError { throw failure }
        guard held.count >= FrameHeader.byteCount else { return nil }
        let header = try header()
        if fault == .allocatesDeclared { capacity = max(capacity, header.frameByteCount) }
        let count = fault == .lengthCountsHeader ? max(FrameHeader.byteCount, header.bodyLength) : header.frameByteCount
        let need = fault == .sumWraps ? Int(UInt32(truncatingIfNeeded: count)) : count
        guard held.count >= need, fault != .emptyBodyWaits || header.bodyLength > 0 || held.count > need else { return nil }
        var body = Array(held[FrameHeader.byteCount..<max(FrameHeader.byteCount, need)])
        if fault == .lastBodyByteStale, held.count == need, body.count > 1 { body[body.count - 1] = body[0] }
        if fault != .sameFrameForever { held.removeFirst(max(need, FrameHeader.byteCount)) }
        frameOffset += UInt64(fault == .offsetWithoutHeaders ? body.count : need)
        return Frame(msgId: header.msgId, version: header.version, body: body)
    }

    private mutating func header() throws(FrameError) -> FrameHeader {
        let little = layout == .littleEndian
        let id = number(held[0..<4], little: little && fault != .idInWrongOrder)
        let version = UInt16(number(held[4..<6], little: little))
        let limit = min(limits.maximumBodyLength, layout.maximumExpressibleLength)
        let length = layout == .asciiLength ? digits(held[6..<10]) : number(held[6..<10], little: little)
        let versionIsKnown =
            fault == .versionUnchecked || limits.versions.contains(version) || fault == .versionZeroAccepted && version == 0
        if fault == .limitBeforeVersion, let length, length > limit { throw end(.bodyTooLarge(declared: length, limit: limit)) }
        guard versionIsKnown else { throw end(.unsupportedVersion(version: version)) }
        guard var length else { throw end(.malformedLength(field: UInt32(number(held[6..<10], little: false)))) }
        if fault == .lengthIn16Bits { length &= 0xFFFF }
        var compared = length
        if fault == .signedLength { compared = Int(Int32(truncatingIfNeeded: length)) }
        if fault == .sumWraps { compared = Int(UInt32(truncatingIfNeeded: length + FrameHeader.byteCount)) - FrameHeader.byteCount }
        if fault == .acceptsOneOverLimit { compared -= 1 }
        if fault == .refusesTheLimit { compared += 1 }
        guard compared <= limit else { throw end(.bodyTooLarge(declared: length, limit: limit)) }
        return FrameHeader(msgId: UInt32(id), version: version, bodyLength: length)
    }

    private mutating func end(_ error: FrameError) -> FrameError {
        failure = error
        held = []
        return error
    }

    private func number(_ bytes: ArraySlice<UInt8>, little: Bool) -> Int {
        (little ? Array(bytes.reversed()) : Array(bytes)).reduce(0) { $0 << 8 | Int($1) }
    }

    private func digits(_ field: ArraySlice<UInt8>) -> Int? {
        var text = String(decoding: field, as: UTF8.self)
        if fault == .digitsStopAtThree, text.utf8.last == UInt8(ascii: "6") { text.removeLast() }
        if fault == .leadingNulAccepted { text = String(text.drop { $0 == "\0" || $0 == " " }) }
        text = String(text.drop { $0 == " " })
        while text.last == " " || text.last == "\0", text.first != "\0" { text.removeLast() }
        if fault == .innerSpaceAccepted { text.removeAll { $0 == " " } }
        if text.isEmpty { return fault == .emptyDigitsAreZero ? 0 : nil }
        if fault == .signAccepted { return Int(text).map { max(0, $0) } }
        return text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }
}
