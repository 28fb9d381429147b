/// What a device description of UPnP says about the root device (UPnP Device Architecture, section 2.3).
struct UPnPDescription: Equatable {
    /// Longer than any text that is shown; the rest of a longer one is dropped.
    private static let maximumText = 256

    var deviceType = ""
    var name = ""
    var vendor = ""
    var model = ""
    var modelNumber = ""
    /// The unique device name, without `uuid:`.
    var identity = ""
    /// Service types of the root device and of those within it.
    var services: [String] = []

    /// Reads a description.
    init(_ document: [UInt8]) throws(XMLReader.Failure) {
        var reader = XMLReader(document)
        var path: [String] = []
        while let event = try reader.next() {
            switch event {
            case .open(let name): path.append(name)
            case .close: path.removeLast()
            case .text(let text): take(text.trimmingASCIISpaces, at: path)
            }
        }
    }

    private mutating func take(_ text: String, at path: [String]) {
        guard path.count >= 3, path[0] == "root", path[1] == "device" else { return }
        let text = String(text.prefix(UPnPDescription.maximumText))
        if path.last == "serviceType", services.count < DeviceDescription.maximumServices {
            if !services.contains(text) { services.append(text) }
        }
        // The devices within say who they are too: only the root's own elements count.
        guard path.count == 3 else { return }
        switch path[2] {
        case "deviceType": deviceType += text
        case "friendlyName": name += text
        case "manufacturer": vendor += text
        case "modelName": model += text
        case "modelNumber": modelNumber += text
        case "UDN": identity += text.hasPrefix("uuid:") ? String(text.dropFirst(5)) : text
        default: break
        }
    }

    /// Whether the root device is an Internet gateway.
    var isGateway: Bool { deviceType.hasPrefix(SSDPDialect.gatewayType) }

    /// `found` with what the description adds.
    func completing(_ found: DeviceDescription) -> DeviceDescription {
        let shownModel =
            modelNumber.isEmpty || model.contains(modelNumber) ? model : model.isEmpty ? modelNumber : "\(model) \(modelNumber)"
        return DeviceDescription(
            .ssdp, mac: found.mac, bssids: found.bssids, name: name, vendor: vendor, model: shownModel, firmware: found.firmware,
            services: services.isEmpty ? found.services : services, identity: identity.isEmpty ? found.identity : identity,
            location: found.location, isRouter: found.isRouter || isGateway)
    }
}
