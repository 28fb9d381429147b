import SocketCore
import WifiDiscovery

extension DirectoryCore {
    /// The known router that a user's ROUTER argument names.
    ///
    /// - Throws: `ToolError` when nobody or several are called that.
    func router(named text: String) throws(ToolError) -> KnownRouter {
        switch find(RouterReference(text)) {
        case .found(let router): return router
        case .ambiguous(let routers):
            let names = routers.prefix(4).map { "\($0.router.mac)" }.joined(separator: ", ")
            throw ToolError("\(routers.count) known routers are called '\(text)'", hint: "name one by its MAC: \(names)")
        case .unknown:
            if text == "current" { throw KnownRouterLookup.noCurrent }
            let near = Suggestion.nearest(to: text, among: all.map(\.router.name).filter { !$0.isEmpty })
            throw ToolError(
                "no router '\(text)' is known", hint: near.map { "did you mean \($0)?" } ?? "wifictl discover finds, wifictl routers lists")
        }
    }
}

/// A ROUTER argument that nobody answered to.
enum KnownRouterLookup {
    /// Somebody says `current` before there is one.
    static let noCurrent = ToolError(
        "no router is the current one yet", hint: "wifictl send and wifictl switch make the one that they name current")

    /// What to tell, with the name among the known ones that was probably meant.
    static func unknown(_ text: String, home: String) -> ToolError {
        if text == "current" { return noCurrent }
        if let colon = text.lastIndex(of: ":"), case .address(let address, nil) = RouterReference(String(text[..<colon])),
            address.isV4 || text.hasPrefix("[")
        {
            return ToolError("\(text): '\(text[text.index(after: colon)...])' is no port", hint: "ports go from 1 to 65535")
        }
        // What is wrong with the state is told by the commands that need it; here it's only good for a hint.
        let names = (try? RouterDirectory(home: home).load())?.all.map(\.router.name).filter { !$0.isEmpty } ?? []
        let near = Suggestion.nearest(to: text, among: names)
        return ToolError(
            "no router called \(text) is known or answers", hint: near.map { "did you mean \($0)?" } ?? "see wifictl discover")
    }
}
