import Testing

@testable import WifiDiscovery

/// Multi-link operation is beyond the machine that the recordings come from: these messages are made by hand from the kernel's
/// header.
struct MultiLinkTests {
    private let first = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x11)
    private let second = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x12)
    private let mld = MACAddress(0x02, 0, 0x5E, 0, 0x53, 0x1F)

    private struct Kernel: WirelessKernel {
        var networks: [NetlinkMessage]
        var stations: [NetlinkMessage] = []
        func ask(_ request: NetlinkRequest) -> KernelAnswer {
            switch request.bytes[16] {
            case NL80211.Controller.getFamily:
                .messages([message { $0.add(NL80211.Controller.familyID, [32, 0]) }])
            case NL80211.Command.getInterface:
                .messages([
                    message {
                        $0.add(NL80211.Attribute.interfaceIndex, 7)
                        $0.add(NL80211.Attribute.interfaceName, "wlan0")
                        $0.add(NL80211.Attribute.interfaceType, NL80211.InterfaceType.station)
                    }
                ])
            case NL80211.Command.getScan: .messages(networks)
            default: .messages(stations)
            }
        }
        func interfaces() -> [(index: UInt32, name: String)] { [] }
        func isUp(_ name: String) -> Bool? { true }
        func accessPoint(_ name: String) -> MACAddress? { nil }
    }

    private func network(_ bssid: MACAddress, signal: Int32, mld: MACAddress? = nil, status: UInt32 = 1) -> NetlinkMessage {
        var inside = NetlinkRequest(type: 0, isDump: false, sequence: 0, head: [])
        inside.add(NL80211.BSS.bssid, bssid.octets)
        inside.add(NL80211.BSS.status, status)
        inside.add(NL80211.BSS.signal, UInt32(bitPattern: signal))
        inside.add(NL80211.BSS.elements, [1, 1, 0x82, 0, 4] + Array("Home".utf8))
        if let mld { inside.add(NL80211.BSS.mldAddress, mld.octets) }
        return message { $0.add(NL80211.Attribute.bss | 0x8000, Array(inside.bytes[16...])) }
    }

    @Test func `All links and the address above them make one link`() throws {
        let kernel = Kernel(networks: [network(second, signal: -6_150, mld: mld), network(first, signal: -4_000, mld: mld)])
        let report = WirelessReading.read(kernel)
        let linked = try #require(report.interfaces.first?.linked)
        #expect(linked.bssids == [first, second])
        #expect(linked.mld == mld)
        #expect(linked.signal == -40)
        #expect(linked.ssid?.description == "Home")
        #expect(report.addresses == [first, second, mld])
    }

    @Test func `Placeholders are unknown`() {
        for placeholder in [MACAddress.zero, .broadcast, .redacted, MACAddress(0x01, 0, 0x5E, 0, 0, 1)] {
            #expect(WirelessReading.read(Kernel(networks: [network(placeholder, signal: -4_000)])).unknown == .placeholder)
        }
        let stations = [message { $0.add(NL80211.Attribute.mac, MACAddress.redacted.octets) }]
        #expect(WirelessReading.read(Kernel(networks: [], stations: stations)).unknown == .placeholder)
    }

    @Test func `A joined ad-hoc network or one that is only authenticated with isn't associated`() {
        let kernel = Kernel(networks: [network(first, signal: -4_000, status: 0), network(second, signal: -4_000, status: 2)])
        #expect(WirelessReading.read(kernel).unknown == .notAssociated)
    }

    private static func elements(_ bytes: [UInt8]) -> WirelessName? { WirelessName(elements: bytes[...]) }

    @Test func `Names are found among the elements`() {
        #expect(MultiLinkTests.elements([0, 4] + Array("Home".utf8))?.description == "Home")
        #expect(MultiLinkTests.elements([0, 3, 0, 0, 0])?.isHidden == true)
        #expect(MultiLinkTests.elements([1, 2, 0, 0]) == nil)
        #expect(MultiLinkTests.elements([0, 5, 65]) == nil)
        #expect(MultiLinkTests.elements([0]) == nil)
        #expect(MultiLinkTests.elements([0, 3, 0x1B, 0x5B, 0x41])?.description == "\u{FFFD}[A")
    }
}

private func message(_ fill: (inout NetlinkRequest) -> Void) -> NetlinkMessage {
    var request = NL80211.request(32, 0, isDump: false, sequence: 1)
    fill(&request)
    return NetlinkMessage(type: 32, flags: 0, sequence: 1, payload: request.bytes[16...])
}

extension MACAddress {
    fileprivate var octets: [UInt8] { (0..<6).map(octet) }
}
