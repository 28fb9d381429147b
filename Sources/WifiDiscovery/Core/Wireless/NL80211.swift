/// The numbers of Linux's nl80211 and of the generic netlink controller that are needed here (linux/nl80211.h and
/// linux/genetlink.h; they are the kernel's ABI and never change).
enum NL80211 {
    static let familyName = "nl80211"
    /// Associations begin and end in this multicast group.
    static let associationGroup = "mlme"

    enum Controller {
        static let messageType: UInt16 = 0x10
        static let getFamily: UInt8 = 3
        static let familyID: UInt16 = 1
        static let familyName: UInt16 = 2
        static let groups: UInt16 = 7
        static let groupName: UInt16 = 1
        static let groupID: UInt16 = 2
    }

    enum Command {
        static let getInterface: UInt8 = 5
        static let getStation: UInt8 = 17
        static let newStation: UInt8 = 19
        static let deleteStation: UInt8 = 20
        static let getScan: UInt8 = 32
        static let associate: UInt8 = 38
        static let deauthenticate: UInt8 = 39
        static let disassociate: UInt8 = 40
        static let connect: UInt8 = 46
        static let roam: UInt8 = 47
        static let disconnect: UInt8 = 48
        static let channelSwitch: UInt8 = 88
    }

    enum Attribute {
        static let interfaceIndex: UInt16 = 3
        static let interfaceName: UInt16 = 4
        static let interfaceType: UInt16 = 5
        static let mac: UInt16 = 6
        static let stationInfo: UInt16 = 21
        static let frequency: UInt16 = 38
        static let bss: UInt16 = 47
        static let ssid: UInt16 = 52
        static let mldAddress: UInt16 = 314
    }

    enum BSS {
        static let bssid: UInt16 = 1
        static let frequency: UInt16 = 2
        static let elements: UInt16 = 6
        static let signal: UInt16 = 7
        static let status: UInt16 = 9
        static let beaconElements: UInt16 = 11
        static let linkID: UInt16 = 21
        static let mldAddress: UInt16 = 22
        static let isAssociated: UInt32 = 1
    }

    enum Station {
        static let signal: UInt16 = 7
    }

    enum InterfaceType {
        static let station: UInt32 = 2
        static let accessPoint: UInt32 = 3
        static let peerClient: UInt32 = 8
    }

    /// A request with the head of generic netlink: command, version 1, two unused bytes.
    static func request(_ type: UInt16, _ command: UInt8, isDump: Bool, sequence: UInt32) -> NetlinkRequest {
        NetlinkRequest(type: type, isDump: isDump, sequence: sequence, head: [command, 1, 0, 0])
    }

    /// The attributes behind the generic head.
    static func attributes(_ message: NetlinkMessage) -> NetlinkAttributes { NetlinkAttributes(message.payload.dropFirst(4)) }

    static func command(_ message: NetlinkMessage) -> UInt8? { message.payload.first }
}

extension NetlinkAttribute {
    /// A hardware address of exactly six bytes.
    var mac: MACAddress? {
        guard value.count == 6 else { return nil }
        return MACAddress(bits: value.reduce(0) { $0 << 8 | UInt64($1) })
    }
}
