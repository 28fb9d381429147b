/// The few ways in which text may stand out on a terminal.
enum Paint: String, Sendable {
    case bold = "1"
    case dim = "2"
    case red = "31"
    case green = "32"
    case yellow = "33"
    case cyan = "36"
    case inverse = "7"

    func apply(_ text: String) -> String { "\u{1b}[\(rawValue)m\(text)\u{1b}[0m" }
}
