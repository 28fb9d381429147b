import SocketCore

extension RouterDescription {
    /// Reads the object under `reply` or `announce`. Optional members of a wrong type read as absent: a router with a strange
    /// name is still a router.
    init(_ object: JSONValue) throws(DatagramError) {
        let fields = MessageFields(object)
        self.init(
            mac: try fields.device("mac"), name: fields.text("name"), vendor: fields.text("vendor"), model: fields.text("model"),
            firmware: fields.text("firmware"), tcp: try fields.port("tcp"), tls: object["tls"]?.boolValue ?? false,
            versions: try fields.versions("versions"), boot: object["boot"]?.stringValue.flatMap(HexToken.init),
            uptime: object["uptime"]?.integerValue.flatMap { $0 < 0 ? nil : Int(exactly: $0) },
            radios: RouterDescription.readRadios(object["radios"]), mld: RouterDescription.readMLD(object["mld"]),
            children: RouterDescription.readChildren(object["children"]))
    }

    private static func readRadios(_ value: JSONValue?) -> [Radio] {
        (value?.arrayValue ?? []).prefix(maximumRadios).compactMap { entry in
            guard let text = entry["bssid"]?.stringValue, let bssid = MACAddress(text), !bssid.isPlaceholder else { return nil }
            return Radio(bssid: bssid, ssid: entry["ssid"]?.stringValue ?? "", band: entry["band"]?.stringValue ?? "")
        }
    }

    private static func readMLD(_ value: JSONValue?) -> [MACAddress] {
        (value?.arrayValue ?? []).prefix(maximumMLD).compactMap { entry in
            guard let text = entry.stringValue, let address = MACAddress(text), !address.isPlaceholder else { return nil }
            return address
        }
    }

    private static func readChildren(_ value: JSONValue?) -> [MACAddress] {
        (value?.arrayValue ?? []).prefix(maximumChildren).compactMap { entry in
            entry.stringValue.flatMap { MACAddress($0) }.flatMap { $0.isUsableAsDevice ? $0 : nil }
        }
    }

    /// The members in the order in which protocol.md shows them; empty ones are left out.
    var members: [JSONValue.Member] {
        var members: [JSONValue.Member] = [.init("mac", .string(mac.description))]
        for (key, text) in [("name", name), ("vendor", vendor), ("model", model), ("firmware", firmware)] where !text.isEmpty {
            members.append(.init(key, .string(text)))
        }
        members.append(.init("tcp", .integer(Int64(tcp))))
        members.append(.init("tls", .bool(tls)))
        members.append(.init("versions", .array(versions.map { .integer(Int64($0)) })))
        if let boot { members.append(.init("boot", .string(boot.description))) }
        if let uptime { members.append(.init("uptime", .integer(Int64(uptime)))) }
        if !radios.isEmpty { members.append(.init("radios", .array(radios.map(\.json)))) }
        if !mld.isEmpty { members.append(.init("mld", .array(mld.map { .string($0.description) }))) }
        if !children.isEmpty { members.append(.init("children", .array(children.map { .string($0.description) }))) }
        return members
    }
}

extension RouterDescription.Radio {
    /// The radio as the wire and the tool show it.
    public var json: JSONValue {
        var members: [JSONValue.Member] = [.init("bssid", .string(bssid.description))]
        if !ssid.isEmpty { members.append(.init("ssid", .string(ssid))) }
        if !band.isEmpty { members.append(.init("band", .string(band))) }
        return .object(members)
    }
}
