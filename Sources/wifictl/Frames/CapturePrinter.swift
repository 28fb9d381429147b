import FrameCodec
import SocketCore

/// Prints what a capture's streams and datagrams held, and keeps count of what ends the tool with an error.
struct CapturePrinter {
    /// Errors in frames and lost segments so far, and the first of them as a sentence.
    private(set) var failureCount = 0
    private(set) var firstFailure: (sentence: String, advice: String)?

    private let output: Output
    private var hasTitles = false
    /// The stream whose addresses were printed last: rows name it by number only.
    private var shownStream: Int?

    init(_ output: Output) { self.output = output }

    mutating func show(_ event: CaptureEvent) {
        switch event {
        case .frame(let place, let time, let offset, let frame): show(frame, at: offset, place, time)
        case .error(let place, let time, let report):
            tell(report.members, "\(Self.name(place)): \(report.sentence)", report.advice, place, time)
        case .loss(let place, let time, let offset, let loss): show(loss, at: offset, place, time)
        case .lateStart(let place, _):
            output.remark("\(Self.name(place)): its beginning wasn't captured; it is cut from the first segment seen")
        case .datagram(let datagram, let time): show(datagram, time)
        case .stream(let toServerPlace, let toServer, let toClientPlace, let toClient):
            showEnd(toServerPlace, toServer, toClientPlace, toClient)
        }
    }

    mutating func showSummary(_ counts: CaptureCounts) {
        guard output.isJSON else { return }
        output.json(
            "summary",
            [
                "packets": .whole(counts.packets), "frames": .whole(counts.frames), "datagrams": .whole(counts.datagrams),
                "tcpStreams": .whole(counts.tcpStreams), "cutStreams": .whole(counts.cutStreams),
                "fragments": .whole(counts.fragments), "damaged": .whole(counts.damaged),
                "unknownLinks": .whole(counts.unknownLinks.values.reduce(0, +)),
            ])
    }

    private mutating func show(_ frame: Frame, at offset: UInt64, _ place: StreamPlace, _ time: CaptureTime?) {
        if output.isJSON {
            let members = FramePrinter.members(at: offset, frame.header, frame.body.span.bytes)
            output.json("frame", members + Self.members(place, time))
            return
        }
        showTitles()
        if shownStream != place.stream {
            shownStream = place.stream
            let (client, server) =
                place.direction == .toServer ? (place.source, place.destination) : (place.destination, place.source)
            output.line(output.paint("stream \(place.stream): client \(client), server \(server)", .cyan))
        }
        let start = columns(time, "\(place.stream)", place.direction)
        output.line(FrameRow(offset: offset, frame.header, frame.body.span.bytes).text(width: output.width, behind: start))
    }

    private mutating func show(_ loss: StreamLoss, at offset: UInt64, _ place: StreamPlace, _ time: CaptureTime?) {
        let start = JSONValue.Member("offset", .whole(offset))
        switch loss {
        case .missing(let count, let isCut):
            tell(
                [JSONValue.Member("error", "lostSegment"), start, JSONValue.Member("missing", .whole(count))],
                "\(Self.name(place)): \(count) bytes from offset \(offset) on were never captured, so it can't be cut any further",
                isCut ? "packets were cut short: capture with a larger snaplen" : "the capture dropped packets", place, time)
        case .tooMany:
            tell(
                [JSONValue.Member("error", "tooManyStreams"), start],
                "\(Self.name(place)): given up at offset \(offset), since there are more than"
                    + " \(CaptureDecoder.maximumConversations) streams", "filter the capture", place, time)
        case .encrypted:
            output.remark("\(Self.name(place)): TLS, in which no frames can be seen")
        }
    }

    private mutating func tell(
        _ members: [JSONValue.Member], _ sentence: String, _ advice: String, _ place: StreamPlace, _ time: CaptureTime?
    ) {
        failureCount += 1
        if firstFailure == nil { firstFailure = (sentence, advice) }
        if output.isJSON { output.json("error", members + Self.members(place, time)) }
        output.remark("\(sentence) (\(advice))")
    }

    private mutating func show(_ datagram: CapturedDatagram, _ time: CaptureTime?) {
        let text = { (content: CapturedDatagram.Content) in "\(content.kind.rawValue) \(content.header.msgId) \(content.value.text)" }
        guard output.isJSON else {
            showTitles()
            let what =
                switch datagram.content {
                case .success(let content): text(content)
                case .failure(let reason): "invalid (\(datagram.length) bytes): \(reason.rawValue)"
                }
            let line = columns(time, "udp", nil) + "\(datagram.source) > \(datagram.destination)  \(what)"
            output.line(DisplayWidth.printable(output.width.map { DisplayWidth.fit(line, to: $0) } ?? line))
            return
        }
        var members: [JSONValue.Member] = []
        switch datagram.content {
        case .success(let content):
            members = [
                JSONValue.Member("kind", .string(content.kind.rawValue)), JSONValue.Member("msgId", .whole(content.header.msgId)),
                JSONValue.Member("version", .whole(content.header.version)), JSONValue.Member("len", .whole(content.header.bodyLength)),
                JSONValue.Member(content.kind.rawValue, content.value),
            ]
        case .failure(let reason):
            members = [JSONValue.Member("kind", "invalid"), JSONValue.Member("reason", .string(reason.rawValue))]
        }
        members += [
            JSONValue.Member("bytes", .whole(datagram.length)), JSONValue.Member("source", .string("\(datagram.source)")),
            JSONValue.Member("destination", .string("\(datagram.destination)")), JSONValue.Member("time", .text(time?.description)),
        ]
        output.json("datagram", members)
    }
}

extension CapturePrinter {
    private func showEnd(
        _ toServerPlace: StreamPlace, _ toServer: DirectionSummary, _ toClientPlace: StreamPlace, _ toClient: DirectionSummary
    ) {
        if output.isJSON {
            output.json(
                "stream",
                [
                    "stream": .whole(toServerPlace.stream), "client": .string("\(toServerPlace.source)"),
                    "server": .string("\(toServerPlace.destination)"), "toServer": Self.members(toServer),
                    "toClient": Self.members(toClient),
                ])
        }
        for (place, summary) in [(toServerPlace, toServer), (toClientPlace, toClient)] {
            let name = Self.name(place)
            if summary.heldByteCount > 0 { output.remark("\(name): the capture ends inside a frame, \(summary.heldByteCount) bytes of it") }
            if summary.conflictingByteCount > 0 {
                output.remark("\(name): \(summary.conflictingByteCount) bytes came twice with different values; the first were taken")
            }
            if summary.end == .foreign { output.detail("\(name): no frames") }
            if summary.repeatedByteCount + summary.earlySegmentCount > 0 {
                output.detail(
                    "\(name): \(summary.repeatedByteCount) bytes were sent again, \(summary.earlySegmentCount) segments came early")
            }
        }
    }

    private mutating func showTitles() {
        guard !hasTitles else { return }
        hasTitles = true
        let start = isNarrow ? row("time", "no.", "to") : row("time", "stream", "direction")
        output.line(output.paint(FrameRow.titles(width: output.width, behind: start), .bold))
    }

    /// Less than this, and the body would have no room.
    private static let wide = 120
    private var isNarrow: Bool { output.width.map { $0 < Self.wide } ?? false }

    private func columns(_ time: CaptureTime?, _ stream: String, _ direction: StreamPlace.Direction?) -> String {
        // Of the time, people read hours to microseconds, where it's narrow milliseconds; the date is in the JSON lines.
        let clock = time.map { String($0.description.dropFirst(11).prefix(isNarrow ? 12 : 15)) } ?? ""
        let words = isNarrow ? ("srv", "cli") : ("to server", "to client")
        return row(clock, stream, direction.map { $0 == .toServer ? words.0 : words.1 } ?? "")
    }

    private func row(_ time: String, _ stream: String, _ direction: String) -> String {
        isNarrow
            ? FrameRow.left(time, 12) + " " + FrameRow.right(stream, 3) + " " + FrameRow.left(direction, 3) + " "
            : FrameRow.left(time, 15) + "  " + FrameRow.right(stream, 6) + "  " + FrameRow.left(direction, 9) + "  "
    }

    private static func name(_ place: StreamPlace) -> String { "stream \(place.stream), \(place.source) > \(place.destination)" }

    private static func members(_ place: StreamPlace, _ time: CaptureTime?) -> [JSONValue.Member] {
        [
            JSONValue.Member("stream", .whole(place.stream)), JSONValue.Member("direction", .string(place.direction.rawValue)),
            JSONValue.Member("source", .string("\(place.source)")), JSONValue.Member("destination", .string("\(place.destination)")),
            JSONValue.Member("time", .text(time?.description)),
        ]
    }

    private static func members(_ summary: DirectionSummary) -> JSONValue {
        [
            "frames": .whole(summary.frames), "bytes": .whole(summary.byteCount), "repeatedBytes": .whole(summary.repeatedByteCount),
            "earlySegments": .whole(summary.earlySegmentCount), "conflictingBytes": .whole(summary.conflictingByteCount),
            "unfinishedBytes": .whole(summary.heldByteCount), "end": .string(summary.end.rawValue),
        ]
    }
}
