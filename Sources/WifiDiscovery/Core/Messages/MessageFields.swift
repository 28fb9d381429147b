import SocketCore

/// Reads a message's members, each with its own typed complaint.
struct MessageFields {
    let object: JSONValue

    init(_ object: JSONValue) { self.object = object }

    private func required(_ key: String) throws(DatagramError) -> JSONValue {
        guard let value = object[key] else { throw .missingKey(key) }
        return value
    }

    func token(_ key: String) throws(DatagramError) -> HexToken {
        guard let text = try required(key).stringValue, let token = HexToken(text) else { throw .badValue(key: key) }
        return token
    }

    func device(_ key: String) throws(DatagramError) -> MACAddress {
        guard let text = try required(key).stringValue, let address = MACAddress(text), address.isUsableAsDevice else {
            throw .badValue(key: key)
        }
        return address
    }

    func port(_ key: String) throws(DatagramError) -> UInt16 {
        guard let number = try required(key).integerValue, let port = UInt16(exactly: number), port != 0 else { throw .badValue(key: key) }
        return port
    }

    func versions(_ key: String) throws(DatagramError) -> [UInt16] {
        guard let list = try required(key).arrayValue, !list.isEmpty else { throw .badValue(key: key) }
        var versions: [UInt16] = []
        for entry in list.prefix(RouterDescription.maximumVersions) {
            guard let number = entry.integerValue, let version = UInt16(exactly: number), version != 0 else { throw .badValue(key: key) }
            versions.append(version)
        }
        return versions
    }

    func optionalInteger(_ key: String) throws(DatagramError) -> Int64? {
        guard let value = object[key], value != .null else { return nil }
        guard let number = value.integerValue else { throw .badValue(key: key) }
        return number
    }

    func optionalDevice(_ key: String) throws(DatagramError) -> MACAddress? {
        guard let value = object[key], value != .null else { return nil }
        return try device(key)
    }

    /// A placeholder is no value, so it reads as absent.
    func optionalBSSID(_ key: String) throws(DatagramError) -> MACAddress? {
        guard let value = object[key], value != .null else { return nil }
        guard let text = value.stringValue else { throw .badValue(key: key) }
        do { return try MACAddress.bssid(parsing: text) } catch { throw .badValue(key: key) }
    }

    /// Text for display: cleaned and cut; anything else reads as empty.
    func text(_ key: String, limit: Int = DisplayText.maximumNameBytes) -> String {
        DisplayText.clean(object[key]?.stringValue ?? "", limit: limit)
    }
}
