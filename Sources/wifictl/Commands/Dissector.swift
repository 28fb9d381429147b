import FrameCodec

/// `dissector`: a Wireshark dissector for frames and discovery.
extension Command {
    static let dissector = Command(
        name: "dissector", summary: "prints a Wireshark dissector (Lua) for frames and discovery",
        discussion: """
            The script shows frames put together across TCP segments, with their kind (message, receipt, heartbeat, \
            fire-and-forget), links receipts to their messages and replies to their probes, and shows JSON bodies as such. Layout, \
            limit and ports given here are its defaults; Wireshark's preferences can change them.
            """,
        options: [FrameOptions.layout, FrameOptions.limit], usesNetwork: false, reads: [CommonOptions.port.name], printsJSON: false,
        examples: [
            Example("wifictl dissector > frames.lua && wireshark -X lua_script:frames.lua capture.pcapng", "shows a capture"),
            Example(
                "mkdir -p ~/.local/lib/wireshark/plugins && wifictl dissector > ~/.local/lib/wireshark/plugins/frames.lua",
                "keeps it for good"),
        ]
    ) { arguments, context in
        // The preference that holds the limit has 32 bits, and so has the length field.
        let limit = min(arguments[FrameOptions.limit], Int(UInt32.max))
        let script = DissectorScript(layout: arguments[FrameOptions.layout], limit: limit, port: context.port ?? 19_510)
        context.output.line(script.text)
        return .success
    }
}
