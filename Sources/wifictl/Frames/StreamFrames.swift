import FrameCodec

/// Prints the frames of one byte stream as they come.
///
/// - Returns: `negative` when it holds none.
/// - Throws: `ToolError` for the stream's first frame error (its JSON line has been printed) or unreadable input.
func cutStream(
    _ source: consuming StreamInput, _ stream: consuming FrameCutter, chunk: Int, _ context: Context
) throws -> ExitStatus {
    var input = source
    var cutter = stream
    var printer = FramePrinter(context.output)
    var count = 0
    var failure: FrameError?
    var start: [UInt8] = []
    while failure == nil {
        try context.cancellation.check()
        let piece = try input.next()
        start += piece.prefix(ForeignStream.prefixLength - start.count)
        do throws(FrameError) {
            if piece.isEmpty {
                try cutter.finish()
                break
            }
            for start in stride(from: 0, to: piece.count, by: chunk) {
                let part = piece.span.bytes.extracting(start..<min(start + chunk, piece.count))
                try cutter.feed(part) { offset, header, body in
                    count += 1
                    printer.frame(at: offset, header, body)
                }
            }
        } catch {
            failure = error
        }
    }
    if input.hasGuessedOffsets { context.output.remark("the first column was taken for offsets") }
    guard let failure else {
        if count == 0 { context.output.remark("the input is empty: no frames") }
        return count == 0 ? .negative : .success
    }
    let report = FrameErrorReport(offset: cutter.offset, error: failure)
    printer.failure(report)
    let foreign = report.offset == 0 ? ForeignStream(start) : nil
    throw ToolError(report.sentence, hint: foreign?.advice ?? report.advice)
}
