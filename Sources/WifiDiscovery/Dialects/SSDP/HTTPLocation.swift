import SocketCore

/// Where a description lies: an `http` URL whose host is an address, not a name (RFC 3986, RFC 9110).
public struct HTTPLocation: Hashable, Sendable, CustomStringConvertible {
    /// Longer than any path of a description.
    public static let maximumPathLength = 512

    /// The server.
    public var endpoint: Endpoint
    /// Path and query; begins with a slash and holds visible ASCII only, so that it fits a request line as it is.
    public var target: String

    /// Reads a URL as the sender of a datagram gave it.
    ///
    /// nil unless it is plain `http`, its host is the sender's own address (else one datagram could make us ask anybody), and
    /// nothing in it could end up as anything but a path in the request. An IPv6 host may lack its scope or have the sender's idea of
    /// one: the address is the source's, with our scope.
    public init?(_ url: some StringProtocol, from source: IPAddress) {
        guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }), url.prefix(7).lowercased() == "http://" else { return nil }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard let (host, port) = HTTPLocation.split(authority), host.unscoped == source.unscoped else { return nil }
        let path = rest.dropFirst(authority.count).prefix { $0 != "#" }
        let target = path.hasPrefix("/") ? String(path) : "/" + path
        guard target.utf8.count <= HTTPLocation.maximumPathLength else { return nil }
        endpoint = Endpoint(source, port: port)
        self.target = target
    }

    private static func split(_ authority: some StringProtocol) -> (IPAddress, UInt16)? {
        if authority.first == "[" {
            guard let close = authority.firstIndex(of: "]") else { return nil }
            let inside = authority[authority.index(after: authority.startIndex)..<close].prefix { $0 != "%" }
            guard let address = IPAddress(inside), !address.isV4 else { return nil }
            return port(authority[authority.index(after: close)...]).map { (address, $0) }
        }
        let host = authority.prefix { $0 != ":" }
        guard let address = IPAddress(host), address.isV4 else { return nil }
        return port(authority[host.endIndex...]).map { (address, $0) }
    }

    private static func port(_ text: some StringProtocol) -> UInt16? {
        if text.isEmpty || text == ":" { return 80 }
        let digits = text.dropFirst()
        guard text.first == ":", digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = UInt16(digits), port > 0 else {
            return nil
        }
        return port
    }

    /// The URL.
    public var description: String { "http://\(endpoint)\(target)" }

    /// The request for it; the server closes when it has answered.
    var request: [UInt8] {
        var host = "\(endpoint.address.unscoped)"
        if !endpoint.address.isV4 { host = "[\(host)]" }
        if endpoint.port != 80 { host += ":\(endpoint.port)" }
        return Array("GET \(target) HTTP/1.1\r\nHost: \(host)\r\nAccept: text/xml, application/xml\r\nConnection: close\r\n\r\n".utf8)
    }
}
