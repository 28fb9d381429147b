import SocketCore
import Testing

@testable import WifiDiscovery

struct LinkWatchTests {
    private func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }
    private let unassociated = WirelessReport(
        interfaces: [.init(index: 2, name: "wlan0", station: nil, association: .failure(.notAssociated))])
    private let switchedOff = WirelessReport(
        interfaces: [.init(index: 2, name: "wlan0", station: nil, association: .failure(.interfaceDown))])
    private func associated(_ last: UInt8, signal: Double = -40) -> WirelessReport {
        let link = WirelessAssociation(bssids: [MACAddress(0, 0, 0x5E, 0, 0x53, last)], signal: signal, source: .scan)
        return WirelessReport(interfaces: [.init(index: 2, name: "wlan0", station: nil, association: .success(link))])
    }

    @Test func `A roam is told once, with the new access point`() {
        var watch = LinkWatch(now: at(0))
        #expect(watch.deadline == at(0))
        #expect(watch.read(associated(1), now: at(0)) == associated(1))
        #expect(watch.deadline == at(0) + LinkWatch.routine)
        watch.noticed(now: at(1_000))
        watch.noticed(now: at(1_010))
        #expect(watch.deadline == at(1_020))
        #expect(watch.read(unassociated, now: at(1_020)) == nil)
        #expect(watch.deadline == at(1_120))
        #expect(watch.read(unassociated, now: at(1_120)) == nil)
        #expect(watch.read(associated(2), now: at(1_220)) == associated(2))
        #expect(watch.deadline == at(1_220) + LinkWatch.routine)
    }

    @Test func `A link that stays away is told after the grace, once`() {
        var watch = LinkWatch(now: at(0))
        _ = watch.read(associated(1), now: at(0))
        var told: [Instant] = []
        var now = at(1_000)
        for _ in 0..<60 {
            if watch.read(unassociated, now: now) != nil { told.append(now) }
            now = watch.deadline
        }
        #expect(told == [at(1_000) + LinkWatch.grace])
    }

    @Test func `Switching Wi-Fi off is no roam`() {
        var watch = LinkWatch(now: at(0))
        _ = watch.read(associated(1), now: at(0))
        #expect(watch.read(switchedOff, now: at(500)) == switchedOff)
    }

    @Test func `Another signal is no news, and the first report always is`() {
        var watch = LinkWatch(now: at(0))
        #expect(watch.read(unassociated, now: at(0)) == unassociated)
        #expect(watch.read(associated(1), now: at(100)) == associated(1))
        #expect(watch.read(associated(1, signal: -60), now: at(5_100)) == nil)
    }

    @Test func `The events of a recorded roam are noticed, other messages aren't`() throws {
        let events = try Recordings.datagrams("roam/events/events.reply.hex").flatMap { NetlinkMessage.all(in: $0) }
            .compactMap { AssociationEvent($0, family: 32) }
        #expect(events.map(\.command).starts(with: [20, 39, 48, 19]))
        #expect(events.contains { $0.command == NL80211.Command.connect })
        #expect(Set(events.map(\.interface)) == [2])
        let scans = try Recordings.datagrams("wpa2/get-scan-wlan0.reply.hex").flatMap { NetlinkMessage.all(in: $0) }
        #expect(scans.compactMap { AssociationEvent($0, family: 32) }.isEmpty)
    }
}
