import FrameCodec
import TestSupport
import Testing

@Suite struct `Headers at the edges of the protocol` {
    @Test(arguments: FrameLayout.allCases, [0, 1, 32, 9_998, 9_999])
    func `a body of limit and limit minus one is waited for, limit plus one ends the stream`(layout: FrameLayout, limit: Int) {
        let limits = FrameLimits(maximumBodyLength: limit)
        func error(_ length: Int) -> FrameError? {
            headerError(RawFrame.header(layout, length: UInt32(length)), layout: layout, limits: limits)
        }
        if limit > 0 { #expect(error(limit - 1) == nil) }
        #expect(error(limit) == nil)
        // Four digits can't declare more than 9,999.
        if layout == .asciiLength, limit == 9_999 { return }
        #expect(error(limit + 1) == .bodyTooLarge(declared: limit + 1, limit: limit))
    }

    @Test(arguments: [FrameLayout.standard, .littleEndian], [UInt32(0x7FFF_FFFF), 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFF6, 0xFFFF_FFF5])
    func `lengths that are negative when signed or wrap with the header are too large`(layout: FrameLayout, declared: UInt32) {
        let header = RawFrame.header(layout, length: declared)
        #expect(headerError(header, layout: layout) == .bodyTooLarge(declared: Int(declared), limit: 1_048_576))
        let highest = FrameLimits(maximumBodyLength: Int(declared) - 1)
        #expect(headerError(header, layout: layout, limits: highest) == .bodyTooLarge(declared: Int(declared), limit: Int(declared) - 1))
    }

    @Test(arguments: [FrameLayout.standard, .littleEndian], [UInt32(0x7FFF_FFFF), 0x8000_0000, 0xFFFF_FFFF, 0xFFFF_FFF6])
    func `such a length is waited for where the limit allows it, without memory for it`(layout: FrameLayout, declared: UInt32) throws {
        var decoder = FrameDecoder(layout: layout, limits: FrameLimits(maximumBodyLength: Int(UInt32.max)))
        let bytes = RawFrame.header(layout, length: declared) + [1, 2, 3]
        let frames = try take(bytes, &decoder)
        let (held, capacity) = (decoder.heldByteCount, decoder.capacity)
        #expect(frames.isEmpty && held == 13 && capacity <= 64)
        let error = caught { () throws(FrameError) in try decoder.finish() }
        #expect(error == .truncated(have: 13, need: 10 + Int(declared)))
    }

    @Test func `the layout's own largest length holds whatever limit is configured`() {
        let limits = FrameLimits(maximumBodyLength: 1 << 20)
        let answer = decoded(
            RawFrame.header(.asciiLength, length: 9_999) + [UInt8](repeating: 1, count: 9_999), layout: .asciiLength, limits: limits)
        #expect(answer.frames.count == 1 && answer.error == nil)
        #expect(FrameLayout.asciiLength.maximumExpressibleLength == 9_999)
    }

    @Test(arguments: [
        "   5", "  5 ", " 5  ", "5   ", "5\0\0\0", " 5\0\0", "05  ", "005\0", "0005", "5 \0 ", "5\0 \0", " 05\0", "  05",
    ])
    func `an ASCII length may be padded`(field: String) {
        let answer = decoded(RawFrame.header(field: Array(field.utf8)) + Array("hello".utf8), layout: .asciiLength)
        #expect(answer == StreamAnswer(frames: [Frame(msgId: 1, body: Array("hello".utf8))], frameOffset: 15))
    }

    @Test func `four bytes are an ASCII length exactly if they are spaces, digits, then spaces or NULs`() {
        // Every combination of one byte of each kind: a space, a NUL, digits, and bytes beside each of them.
        let kinds: [UInt8] = [0x20, 0x00, 0x30, 0x37, 0x39, 0x01, 0x1F, 0x21, 0x2F, 0x3A, 0x2B, 0x2D, 0x2E, 0x41, 0x66, 0x80, 0xB0, 0xFF]
        for index in 0..<(kinds.count * kinds.count * kinds.count * kinds.count) {
            let field = [0, 1, 2, 3].map { kinds[index / Int([5832, 324, 18, 1][$0]) % kinds.count] }
            let text = String(decoding: field.map { $0 == 0 ? 0x5F : $0 }, as: UTF8.self)
            let right = text.wholeMatch(of: #/ *([0-9]+)[ _]*/#).flatMap { Int($0.1) }
            let answer = headerError(RawFrame.header(field: field), layout: .asciiLength, limits: FrameLimits(maximumBodyLength: 0))
            switch right {
            case 0: #expect(answer == nil, "\(field)")
            case .some(let length): #expect(answer == .bodyTooLarge(declared: length, limit: 0), "\(field)")
            case nil:
                let shown = field.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
                #expect(answer == .malformedLength(field: shown), "\(field)")
            }
        }
    }

    @Test(arguments: FrameLayout.allCases)
    func `versions outside the range are refused and both of its ends accepted`(layout: FrameLayout) {
        let limits = FrameLimits(versions: 2...9)
        for version in [0, 1, 2, 9, 10, 0x0200, 0xFFFF] as [UInt16] {
            let error = headerError(RawFrame.header(layout, version: version, length: 0), layout: layout, limits: limits)
            #expect(error == (2...9 ~= version ? nil : .unsupportedVersion(version: version)))
        }
        #expect(headerError(RawFrame.header(layout, version: 0, length: 0), layout: layout) == .unsupportedVersion(version: 0))
        #expect(headerError(RawFrame.header(layout, version: 0xFFFF, length: 0), layout: layout) == nil)
    }

    @Test func `of several faults the version is named first, then the form of the length, then its size`() {
        let limits = FrameLimits(maximumBodyLength: 4, versions: 1...1)
        func error(_ version: UInt16, _ field: String) -> FrameError? {
            headerError(RawFrame.header(version: version, field: Array(field.utf8)), layout: .asciiLength, limits: limits)
        }
        #expect(error(2, "x999") == .unsupportedVersion(version: 2))
        #expect(error(2, "9999") == .unsupportedVersion(version: 2))
        #expect(error(1, "x999") == .malformedLength(field: 0x7839_3939))
        #expect(error(1, "9999") == .bodyTooLarge(declared: 9_999, limit: 4))
    }

    @Test func `a bad header is noticed with its tenth byte and not before`() throws {
        for (layout, header) in [
            (FrameLayout.standard, RawFrame.header(version: 0, length: 0)),
            (.littleEndian, RawFrame.header(.littleEndian, length: 0x8000_0000)),
            (.asciiLength, RawFrame.header(field: Array("+001".utf8))),
        ] {
            var decoder = FrameDecoder(layout: layout)
            for byte in header.dropLast() {
                let frames = try take([byte], &decoder)
                #expect(frames.isEmpty)
            }
            let error = caught { () throws(FrameError) in _ = try take([header[9]], &decoder) }
            #expect(error != nil)
        }
    }

    @Test func `bodies are counted in bytes, not characters`() {
        let text = "Grüße, 你好 🛜"
        let body = Array(text.utf8)
        #expect(body.count > text.count)
        let stream = RawFrame.frame(body) + RawFrame.frame([9], msgId: 2)
        #expect(decoded(stream).frames == [Frame(msgId: 1, body: body), Frame(msgId: 2, body: [9])])
        #expect(
            decoded(stream, limits: FrameLimits(maximumBodyLength: text.count)).error
                == .bodyTooLarge(declared: body.count, limit: text.count))
    }
}
