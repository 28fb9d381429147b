import SocketCore
import WifiDiscovery

/// `get` and `set`: properties of the sample vocabulary.
extension Command {
    static let get = Command(
        name: "get", summary: "reads properties of a router", positionals: ["ROUTER", "NAME..."],
        options: [SessionTool.timeout, SessionTool.alone] + SessionTool.framing + TrustOptions.talking, isForAgent: SessionTool.isForAgent,
        examples: [Example("wifictl get Attic wifi.ssid clients", "two properties, a line each")]
    ) { arguments, context in
        let names = Array(arguments.positionals.dropFirst())
        let output = context.output
        return try await SessionTool.withRouter(
            try arguments.required(0, "ROUTER"), arguments, context, within: arguments[SessionTool.timeout]
        ) {
            print(try await $0.get(names), output)
            return .success
        }
    }

    static let set = Command(
        name: "set", summary: "changes properties of a router", positionals: ["ROUTER", "NAME=VALUE..."],
        discussion: "VALUE is JSON where it can be read as JSON (3, true, \"3\"), and text otherwise.",
        options: [SessionTool.timeout, SessionTool.alone] + SessionTool.framing + TrustOptions.talking, isForAgent: SessionTool.isForAgent,
        examples: [Example("wifictl set Attic wifi.ssid=Cellar led=false", "text and a truth value")]
    ) { arguments, context in
        let values = try arguments.positionals.dropFirst().map { text throws(UsageError) in try assignment(text) }
        let output = context.output
        return try await SessionTool.withRouter(
            try arguments.required(0, "ROUTER"), arguments, context, within: arguments[SessionTool.timeout]
        ) {
            print(try await $0.set(values), output)
            return .success
        }
    }

    private static func assignment(_ text: String) throws(UsageError) -> JSONValue.Member {
        guard let equals = text.firstIndex(of: "="), equals != text.startIndex else {
            throw UsageError("'\(text)' is no NAME=VALUE", hint: "such as wifi.ssid=Cellar")
        }
        let value = String(text[text.index(after: equals)...])
        // What isn't JSON is meant as text.
        return JSONValue.Member(String(text[..<equals]), (try? JSONValue.parse(Array(value.utf8))) ?? .string(value))
    }

    private static func print(_ members: [JSONValue.Member], _ output: Output) {
        for member in members {
            if output.isJSON {
                output.json("property", ["name": .string(member.name), "value": member.value])
            } else {
                output.line(
                    "\(DisplayWidth.printable(member.name)) = \(DisplayWidth.printable(member.value.stringValue ?? member.value.text))")
            }
        }
    }
}
