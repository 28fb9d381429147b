import FrameCodec

/// `frames [FILE]`: cuts a byte stream into frames.
extension Command {
    private static let hex = Flag("hex", "the input is hex text: plain digits, or a dump as xxd, hexdump -C, od and tcpdump print it")
    private static let chunk = DefaultedOption(
        "chunk", "N", ValueKind<Int>.integer(in: 1...(16 << 20)), default: 64 << 10, shown: "65536",
        "bytes handed to the decoder at a time; the frames don't depend on it")

    static let frames = Command(
        name: "frames", summary: "cuts a byte stream into frames", positionals: ["[FILE]"],
        discussion: """
            Reads FILE or standard input and prints a line a frame. The exit status is 0 when the stream ends cleanly, and 2 at the \
            first frame that can't be right, since nothing behind it can be trusted.
            """,
        options: [FrameOptions.layout, FrameOptions.limit, FrameOptions.version, chunk, hex], usesNetwork: false,
        examples: [
            Example("nc -l 19510 | wifictl frames", "shows what a device sends"),
            Example("echo 00000001 0001 00000002 6869 | wifictl frames --hex --json", "takes one frame apart"),
        ]
    ) { arguments, context in
        let limits = FrameOptions.limits(size: arguments[FrameOptions.limit], version: arguments[FrameOptions.version])
        let input = try StreamInput(
            arguments.optional(0), hex: arguments[hex], pieceLength: arguments[chunk], cancellation: context.cancellation)
        let cutter = FrameCutter(layout: arguments[FrameOptions.layout], limits: limits)
        try cutStream(input, cutter, chunk: arguments[chunk], context)
        return .success
    }
}
