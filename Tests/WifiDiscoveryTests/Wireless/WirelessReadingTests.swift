import Testing

@testable import WifiDiscovery

struct WirelessReadingTests {
    /// `probe.txt` is an independent program's reading of the same replies: the associated network of each interface.
    private func expected(_ situation: String) throws -> [String: (bssid: String, ssid: String, frequency: Int, signal: Double)] {
        var interface = ""
        var found: [String: (String, String, Int, Double)] = [:]
        for line in try Recordings.text("\(situation)/probe.txt").split(separator: "\n") {
            if line.hasPrefix("-- ") { interface = String(line.dropFirst(3)) }
            guard line.hasPrefix("GET_SCAN"), line.hasSuffix("(associated)"),
                let match = line.firstMatch(of: /bssid=(\S+) ssid=(.*) freq=(\d+) signal=(\S+) dBm/)
            else { continue }
            found[interface] = (
                String(match.1), String(match.2), try #require(Int(match.3)), try #require(Double(match.4))
            )
        }
        return found
    }

    @Test(arguments: Recordings.situations)
    func `Every recorded situation reads as the independent program read it`(situation: String) throws {
        let report = WirelessReading.read(try RecordedKernel(situation))
        let expected = try expected(situation)
        #expect(report.interfaces.compactMap(\.linked).count == expected.count)
        for interface in report.interfaces {
            guard let linked = interface.linked else { continue }
            let wanted = try #require(expected[interface.name])
            #expect(linked.bssids.map(\.description) == [wanted.bssid])
            #expect(linked.ssid?.description == wanted.ssid)
            #expect(linked.frequency == wanted.frequency)
            #expect(linked.signal == wanted.signal)
            #expect(linked.source == .scan)
            #expect(linked.mld == nil)
        }
    }

    @Test(arguments: Recordings.situations)
    func `The signals of all networks on the air hold the one of the link`(situation: String) throws {
        let kernel = try RecordedKernel(situation)
        let signals = WirelessReading.signals(kernel)
        for linked in WirelessReading.read(kernel).interfaces.compactMap(\.linked) where linked.source == .scan {
            #expect(linked.bssids.compactMap { signals[$0] }.max() == linked.signal)
        }
        // In a crowd there are others to compare with.
        if situation == "crowd" { #expect(signals.count > 10 && signals.values.allSatisfy { (-120...0).contains($0) }) }
        if situation.hasPrefix("no-") { #expect(signals.isEmpty) }
    }

    @Test(arguments: Recordings.situations)
    func `Every recorded situation agrees with iw`(situation: String) throws {
        let report = WirelessReading.read(try RecordedKernel(situation))
        let text = try Recordings.text("\(situation)/iw.txt")
        let connected = text.matches(of: /Connected to (\S+) \(on (\S+)\)/).map { "\($0.2) \($0.1)" }
        let ours = report.interfaces.flatMap { interface in (interface.linked?.bssids ?? []).map { "\(interface.name) \($0)" } }
        #expect(ours.sorted() == connected.sorted())
        let stations = Set(text.matches(of: /ifindex \d+\s+wdev \S+\s+addr (\S+)/).map { String($0.1) })
        #expect(Set(report.interfaces.compactMap { $0.station?.description }) == stations)
    }

    @Test(arguments: [
        ("disconnected", WirelessUnknown.notAssociated), ("down", .interfaceDown), ("no-wifi", .noInterface),
        ("no-nl80211", .noWirelessSupport),
    ])
    func `Where nothing is known the reason is`(situation: String, reason: WirelessUnknown) throws {
        let report = WirelessReading.read(try RecordedKernel(situation))
        #expect(report.addresses.isEmpty)
        #expect(report.unknown == reason)
    }

    @Test func `Two stations give one link of two access points`() throws {
        let report = WirelessReading.read(try RecordedKernel("two-stations"))
        #expect(report.interfaces.map(\.name) == ["wlan0", "wlan1"])
        #expect(report.addresses == [MACAddress(0, 0, 0x5E, 0, 0x53, 1), MACAddress(0, 0, 0x5E, 0, 0x53, 2)])
        #expect(report.unknown == nil)
        #expect(report.interfaces.map { $0.linked?.band } == ["2.4", "5"])
    }

    @Test func `Without a scan table the station dump tells the access point`() throws {
        var kernel = try RecordedKernel("wpa2")
        kernel.answers = kernel.answers.filter { $0.key[16] != NL80211.Command.getScan }
        let report = WirelessReading.read(kernel)
        let linked = try #require(report.interfaces.first?.linked)
        #expect(linked.source == .station)
        #expect(linked.bssids == [MACAddress(0, 0, 0x5E, 0, 0x53, 1)])
        #expect(linked.frequency == 2412)
        #expect(linked.signal == -20)
    }

    @Test func `Without both, wireless extensions do`() throws {
        var kernel = try RecordedKernel("wpa2")
        kernel.answers = kernel.answers.filter { ![NL80211.Command.getScan, NL80211.Command.getStation].contains($0.key[16]) }
        #expect(WirelessReading.read(kernel).interfaces.first?.linked?.source == .wirelessExtensions)
    }

    @Test func `A driver that knows only wireless extensions`() throws {
        var kernel = try RecordedKernel("no-nl80211")
        kernel.names = [(1, "lo"), (4, "wlan0"), (5, "wlan1")]
        kernel.accessPoints = ["wlan0": MACAddress(0, 0, 0x5E, 0, 0x53, 1), "wlan1": .zero]
        let report = WirelessReading.read(kernel)
        #expect(report.addresses == [MACAddress(0, 0, 0x5E, 0, 0x53, 1)])
        #expect(report.interfaces.map(\.index) == [4, 5])
        #expect(report.interfaces.last?.association == .failure(.notAssociated))
    }

    @Test(arguments: [
        (Int32(1), WirelessUnknown.noPermission), (13, .noPermission), (2, .noWirelessSupport),
        (110, .failed(code: 110, asking: "nl80211")),
    ])
    func `A refusal is told as what it is`(code: Int32, reason: WirelessUnknown) {
        #expect(WirelessReading.read(RefusingKernel(code: code)).unknown == reason)
    }

    private struct RefusingKernel: WirelessKernel {
        let code: Int32
        func ask(_ request: NetlinkRequest) -> KernelAnswer { .refused(code) }
        func interfaces() -> [(index: UInt32, name: String)] { [(1, "lo")] }
        func isUp(_ name: String) -> Bool? { true }
        func accessPoint(_ name: String) -> MACAddress? { nil }
    }

    @Test func `This machine answers something, whatever it has`() {
        let report = WirelessLink.read()
        #expect(report.addresses.isEmpty == (report.unknown != nil))
    }
}
