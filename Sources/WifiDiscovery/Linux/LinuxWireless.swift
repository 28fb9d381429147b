import CLinux
import Glibc
import SocketCore

extension WirelessLink {
    /// Asks the kernel once. Takes some hundred microseconds, with a full table of networks a few milliseconds.
    public static func read() -> WirelessReport { WirelessReading.read(LinuxWireless()) }

    /// How well each network on the air is heard, dBm by BSSID; what the kernel has from its last scan, so old by up to half a minute.
    public static func signals() -> [MACAddress: Double] { WirelessReading.signals(LinuxWireless()) }
}

/// The kernel as ``WirelessReading`` asks it.
struct LinuxWireless: WirelessKernel {
    /// A dump that the table's changes interrupt is repeated so often at most.
    private static let attempts = 3

    func ask(_ request: NetlinkRequest) -> KernelAnswer {
        for attempt in 1...LinuxWireless.attempts {
            var reply = NetlinkReply(to: request)
            do throws(SystemError) {
                try SystemCalls.netlinkExchange(protocolNumber: NETLINK_GENERIC, request: request.bytes) { reply.take(Array($0)) }
            } catch {
                return .refused(error.code)
            }
            switch reply.ending {
            case .refused(let code): return .refused(code)
            case .interrupted where attempt < LinuxWireless.attempts: continue
            // The last attempt's gaps can only hide what isn't associated: such entries are rewritten all the time.
            case .complete, .interrupted, .overlong, nil: return .messages(reply.messages)
            }
        }
        return .messages([])
    }

    func interfaces() -> [(index: UInt32, name: String)] {
        guard let list = if_nameindex() else { return [] }
        defer { if_freenameindex(list) }
        var found: [(UInt32, String)] = []
        var entry = list
        while entry.pointee.if_index != 0, let name = entry.pointee.if_name {
            found.append((entry.pointee.if_index, String(cString: name)))
            entry += 1
        }
        return found
    }

    func isUp(_ name: String) -> Bool? {
        guard let answer = try? SystemCalls.interfaceRequest(UInt(SIOCGIFFLAGS), about: name) else { return nil }
        return answer[0] & UInt8(IFF_UP) != 0
    }

    func accessPoint(_ name: String) -> MACAddress? {
        // From linux/wireless.h, which doesn't go together with libc's headers. A refusal means: no such thing here.
        let askForAccessPoint: UInt = 0x8B15
        guard let answer = try? SystemCalls.interfaceRequest(askForAccessPoint, about: name) else { return nil }
        // struct sockaddr: the family, then the address.
        return MACAddress(answer[2], answer[3], answer[4], answer[5], answer[6], answer[7])
    }
}
