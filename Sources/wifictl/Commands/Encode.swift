import FrameCodec
import Glibc

/// `encode [FILE]`: JSON lines to the bytes of frames.
extension Command {
    private static let hex = Flag("hex", "print hex digits, a line a frame, instead of bytes")

    static let encode = Command(
        name: "encode", summary: "turns JSON lines into the bytes of frames", positionals: ["[FILE]"],
        discussion: """
            Each line of FILE or standard input is an object with msgId, version (1 when left out) and body (hex digits) or text. \
            What frames --json prints is read as well, its lines that show no frame passed over. A line that makes no frame ends the command with status 2; the \
            frames before it have been written.
            """,
        options: [FrameOptions.layout, FrameOptions.limit, hex], usesNetwork: false, printsJSON: false,
        examples: [
            Example("echo '{\"msgId\":1,\"text\":\"hi\"}' | wifictl encode | nc 192.168.1.1 19510", "sends one frame to a plain device"),
            Example("wifictl encode --layout asciiLength frames.jsonl > frames.bin", "makes a stream in another layout"),
        ]
    ) { arguments, context in
        guard arguments[hex] || !Terminal.isTerminal(STDOUT_FILENO) else {
            throw UsageError("frames are no text for a terminal", hint: "add --hex, or send standard output to a file or a pipe")
        }
        let limits = FrameOptions.limits(size: arguments[FrameOptions.limit])
        let encoder = FrameEncoder(layout: arguments[FrameOptions.layout], limits: limits)
        try encodeLines(InputFile(arguments.optional(0), cancellation: context.cancellation), encoder, asHex: arguments[hex], context)
        return .success
    }

    private static func encodeLines(
        _ file: consuming InputFile, _ encoder: FrameEncoder, asHex: Bool, _ context: Context
    ) throws {
        var lines = LineReader(file, limit: lineLimit(for: encoder.limits.maximumBodyLength))
        var passedOver = 0
        defer { if passedOver > 0 { context.output.detail("\(counted(passedOver, "line")) that frames prints beside frames passed over") } }
        while let line = try lines.next() {
            try context.cancellation.check()
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 }) { continue }
            do {
                let bytes = try encoder.encode(Frame(jsonLine: line))
                asHex ? context.output.line(Hex.text(bytes)) : context.output.bytes(bytes)
            } catch FrameLineError.otherType(let type) where Frame.otherTypes.contains(type) {
                passedOver += 1
            } catch let error as FrameError {
                throw ToolError("line \(lines.lineNumber): \(refusal(error))")
            } catch {
                throw ToolError(
                    "line \(lines.lineNumber): \(error)", hint: "a frame is written {\"msgId\":1,\"version\":1,\"text\":\"hi\"}")
            }
        }
    }

    private static func refusal(_ error: FrameError) -> String {
        switch error {
        case .unsupportedVersion(let version): "version \(version) is none (1 to 65535)"
        case .bodyTooLarge(let declared, let limit): "the body has \(declared) bytes, the limit is \(limit) (see --limit and --layout)"
        default: "\(error)"
        }
    }

    /// A character of the body takes at most six in JSON (`\u0001`), and the rest of a line some hundreds.
    private static func lineLimit(for body: Int) -> Int { 6 * body + 4_096 }
}
