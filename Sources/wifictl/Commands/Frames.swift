import FrameCodec

/// `frames [FILE]`: cuts a byte stream or a capture into frames.
extension Command {
    private static let hex = Flag("hex", "the input is hex text: plain digits, or a dump as xxd, hexdump -C, od and tcpdump print it")
    private static let raw = Flag("raw", "the input is a byte stream even if it begins like a capture file")
    private static let chunk = DefaultedOption(
        "chunk", "N", ValueKind<Int>.integer(in: 1...(16 << 20)), default: 64 << 10, shown: "65536",
        "bytes handed to the decoder at a time; the frames don't depend on it")
    private static let tcpPort = RepeatedOption(
        "tcp-port", "N", ValueKind<UInt16>.integer(in: 1...UInt16.max), "in a capture, cut the streams of this port instead of 19510's")
    private static let allStreams = Flag("all-streams", "in a capture, cut every stream whose opening was captured, where it holds frames")

    static let frames = Command(
        name: "frames", summary: "cuts a byte stream, pcap or pcapng into frames", positionals: ["[FILE]"],
        discussion: """
            Reads FILE or standard input and prints a line a frame. Capture files (pcap, pcapng) are known by how they begin; their \
            TCP streams are put back into order, and datagrams on the discovery port (--port) are shown too.
            The exit status is 0 when every stream ends cleanly, and 2 after a frame that can't be right, since nothing behind it \
            can be trusted. An input without frames and datagrams gives 1.
            """,
        options: [FrameOptions.layout, FrameOptions.limit, FrameOptions.version, chunk, hex, raw, tcpPort, allStreams],
        usesNetwork: false, reads: [CommonOptions.port.name],
        examples: [
            Example("nc -l 19510 | wifictl frames", "shows what a device sends"),
            Example("echo 00000001 0001 00000002 6869 | wifictl frames --hex --json", "takes one frame apart"),
            Example("tcpdump -w - -U port 19510 | wifictl frames", "shows frames and discovery as they pass by"),
        ]
    ) { arguments, context in
        let layout = arguments[FrameOptions.layout]
        let limits = FrameOptions.limits(size: arguments[FrameOptions.limit], version: arguments[FrameOptions.version])
        var input = try StreamInput(
            arguments.optional(0), hex: arguments[hex], pieceLength: arguments[chunk], cancellation: context.cancellation)
        let format = arguments[hex] || arguments[raw] ? .raw : try input.recognise()
        guard let reader = CaptureReader(format) else {
            return try cutStream(input, FrameCutter(layout: layout, limits: limits), chunk: arguments[chunk], context)
        }
        var settings = CaptureSettings(layout: layout, limits: limits)
        if arguments.isGiven(tcpPort) { settings.tcpPorts = Set(arguments[tcpPort]) }
        settings.allStreams = arguments[allStreams]
        if let port = context.port { settings.udpPort = port }
        return try cutCapture(input, reader, settings, context)
    }
}
