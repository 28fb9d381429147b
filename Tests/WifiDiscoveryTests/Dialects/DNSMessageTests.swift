import Testing

@testable import WifiDiscovery

struct DNSMessageTests {
    /// An answer with one PTR record whose owner is `name`.
    private func answer(_ name: [UInt8], data: [UInt8] = [1, 0x61, 0], count: UInt8 = 1) -> [UInt8] {
        [0, 0, 0x84, 0, 0, 0, 0, count, 0, 0, 0, 0] + name + [0, 12, 0, 1, 0, 0, 0, 9, 0, UInt8(data.count)] + data
    }

    @Test func `Pointers that lead to themselves, forward or in a ring end at once`() {
        #expect(DNSMessage(answer([0xC0, 12])) == nil)
        #expect(DNSMessage(answer([0xC0, 20])) == nil)
        #expect(DNSMessage(answer([1, 0x61, 0xC0, 12])) == nil)
        #expect(DNSMessage(answer([0xC0])) == nil)
        // Two names that point at each other.
        #expect(DNSMessage(answer([0xC0, 24], data: [0xC0, 12])) == nil)
    }

    @Test func `A name may be 255 bytes long and no longer`() {
        let label = [UInt8(62)] + [UInt8](repeating: 0x61, count: 62)
        let name = label + label + label + label
        #expect(DNSMessage(answer(name + [1, 0x61, 0])) != nil)
        #expect(DNSMessage(answer(name + [2, 0x61, 0x61, 0])) == nil)
    }

    @Test func `Counts that promise more than there is are malformed`() {
        #expect(DNSMessage(answer([0])) != nil)
        #expect(DNSMessage(answer([0], count: 2)) == nil)
        #expect(DNSMessage(answer([0], count: 255)) == nil)
        #expect(DNSMessage([0, 0, 0x84, 0, 0xFF, 0xFF, 0, 0, 0, 0, 0, 0]) == nil)
    }

    @Test func `Errors, other operations and short datagrams aren't read`() {
        var datagram = answer([0])
        datagram[3] = 3
        #expect(DNSMessage(datagram) == nil)
        datagram[3] = 0
        datagram[2] = 0x84 | 0x28
        #expect(DNSMessage(datagram) == nil)
        for length in 0..<answer([0]).count { #expect(DNSMessage(Array(answer([0]).prefix(length))) == nil) }
    }

    @Test func `Names are equal whatever their case`() {
        #expect(DNSName("_HTTP._tcp.Local") == DNSName("_http._TCP.local"))
        #expect(DNSName("_HTTP._tcp.Local").hashValue == DNSName("_http._TCP.local").hashValue)
        #expect(DNSName("a._http._tcp.local").isChild(of: DNSName("_http._tcp.local")))
        #expect(!DNSName("b.a._http._tcp.local").isChild(of: DNSName("_http._tcp.local")))
    }
}
