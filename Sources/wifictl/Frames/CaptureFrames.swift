/// Prints the frames of a capture file's streams, and its discovery datagrams.
///
/// - Returns: `negative` when the capture holds neither.
/// - Throws: `ToolError` for a damaged file and for streams that couldn't be cut to their end, once all else has been printed.
func cutCapture(
    _ source: consuming StreamInput, _ format: CaptureReader, _ settings: CaptureSettings, _ context: Context
) throws -> ExitStatus {
    var input = source
    var reader = format
    var decoder = CaptureDecoder(settings)
    var printer = CapturePrinter(context.output)
    var damage: CaptureError?
    reading: while true {
        try context.cancellation.check()
        let piece = try input.next()
        do throws(CaptureError) {
            reader.append(piece)
            while let packet = try reader.next() { decoder.take(packet) { printer.show($0) } }
            if piece.isEmpty {
                try reader.finish()
                break reading
            }
        } catch {
            damage = error
            break reading
        }
    }
    decoder.finish { printer.show($0) }
    if let damage, context.output.isJSON {
        context.output.json("error", ["error": .string(damage.name), "offset": .whole(damage.offset)])
    }
    printer.showSummary(decoder.counts)
    remark(on: decoder.counts, settings, context.output)
    if let damage { throw ToolError("the capture is damaged: \(damage)", hint: "what came before was read; capture again?") }
    if let failure = printer.firstFailure {
        let more = printer.failureCount > 1 ? "; \(printer.failureCount - 1) more of the kind" : ""
        throw ToolError(failure.sentence + more, hint: failure.advice)
    }
    return decoder.counts.frames + decoder.counts.datagrams > 0 ? .success : .negative
}

/// Says what was passed over, so that an empty answer explains itself.
private func remark(on counts: CaptureCounts, _ settings: CaptureSettings, _ output: Output) {
    for (type, count) in counts.unknownLinks.sorted(by: { $0.key < $1.key }) {
        output.remark("\(count) packets have link type \(type), which isn't known here")
    }
    if counts.fragments > 0 { output.remark("\(counts.fragments) packets are IP fragments, which aren't put together here") }
    if counts.damaged > 0 { output.remark("\(counts.damaged) packets have headers that are cut off or contradict themselves") }
    guard counts.frames + counts.datagrams == 0 else { return }
    let ports = counts.otherPorts.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.prefix(8)
    let seen = ports.map { "\($0.key) (\($0.value))" }.joined(separator: ", ")
    let wanted = settings.tcpPorts.sorted().map(String.init).joined(separator: ", ")
    output.remark(
        "no frames on TCP port \(wanted) and no datagrams on UDP port \(settings.udpPort) in \(counts.packets) packets"
            + (seen.isEmpty ? "" : "; TCP streams to other ports: \(seen): see --tcp-port and --all-streams"))
}
