/// HTML and SVG put together from parts, every value of somebody else's escaped.
enum Markup {
    /// Text as it may stand between tags and in quoted attributes: no mark-up, no controls, nothing that turns the writing direction.
    static func text(_ text: String) -> String {
        DisplayWidth.printable(text).reduce(into: "") { result, character in
            switch character {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case "'": result += "&#39;"
            default: result.append(character)
            }
        }
    }

    /// A number for a coordinate: at most two decimals, no exponent.
    static func number(_ value: Double) -> String {
        let hundredths = Int((value * 100).rounded())
        if hundredths % 100 == 0 { return "\(hundredths / 100)" }
        let sign = hundredths < 0 ? "-" : ""
        let rest = abs(hundredths) % 100
        let digits = rest % 10 == 0 ? "\(rest / 10)" : rest < 10 ? "0\(rest)" : "\(rest)"
        return "\(sign)\(abs(hundredths) / 100).\(digits)"
    }
}

/// Shapes of a drawing, each with a class by which a style sheet paints it.
struct Drawing {
    private(set) var shapes: [String] = []
    let width: Double
    var height: Double

    init(width: Double, height: Double) { (self.width, self.height) = (width, height) }

    mutating func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ kind: String) {
        add("<line class=\"\(kind)\" x1=\"\(n(x1))\" y1=\"\(n(y1))\" x2=\"\(n(x2))\" y2=\"\(n(y2))\"/>")
    }

    mutating func box(_ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: String, radius: Double = 6) {
        add(
            "<rect class=\"\(kind)\" x=\"\(n(x))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"\(n(height))\" rx=\"\(n(radius))\"/>")
    }

    /// A dot, with words that show where a pointer rests on it.
    mutating func dot(_ x: Double, _ y: Double, _ radius: Double, _ kind: String, title: String = "") {
        let inner = title.isEmpty ? "/>" : "><title>\(Markup.text(title))</title></circle>"
        add("<circle class=\"\(kind)\" cx=\"\(n(x))\" cy=\"\(n(y))\" r=\"\(n(radius))\"\(inner)")
    }

    enum Anchor: String { case start, middle, end }

    mutating func text(_ x: Double, _ y: Double, _ text: String, _ kind: String, _ anchor: Anchor = .start) {
        add("<text class=\"\(kind)\" x=\"\(n(x))\" y=\"\(n(y))\" text-anchor=\"\(anchor.rawValue)\">\(Markup.text(text))</text>")
    }

    private mutating func add(_ shape: String) { shapes.append(shape) }
    private func n(_ value: Double) -> String { Markup.number(value) }

    /// The drawing as an element, with a title and a description for those who don't see it.
    func element(id: String, title: String, description: String, style: String = "") -> String {
        // In a page it's as wide as there is room for, and no wider than it was drawn for.
        let namespace =
            style.isEmpty
            ? " style=\"max-width:\(n(width * 1.15))px\""
            : " xmlns=\"http://www.w3.org/2000/svg\" width=\"\(n(width))\" height=\"\(n(height))\""
        return """
            <svg\(namespace) viewBox="0 0 \(n(width)) \(n(height))" role="img" aria-labelledby="\(id)-title \(id)-text">
            <title id="\(id)-title">\(Markup.text(title))</title>
            <desc id="\(id)-text">\(Markup.text(description))</desc>
            \(style.isEmpty ? "" : "<style>\(style)</style>\n")\(shapes.joined(separator: "\n"))
            </svg>
            """
    }
}

/// A scale of round steps from 0.
struct AxisScale {
    let end: Double
    let step: Double

    /// Covers `most` in four to ten steps of 1, 2 or 5 of some power of ten.
    init(covering most: Double) {
        let most = max(most, 1e-6)
        var power = 1.0
        while power * 10 <= most { power *= 10 }
        while power > most { power /= 10 }
        let step = [0.1, 0.2, 0.5, 1, 2].map { $0 * power }.first { most / $0 <= 8 } ?? power
        self.step = step
        end = (most / step).rounded(.up) * step
    }

    var ticks: [Double] { (0...Int((end / step).rounded())).map { Double($0) * step } }
}
