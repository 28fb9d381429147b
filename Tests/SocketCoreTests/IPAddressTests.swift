import SocketCore
import Testing

@Suite("IP addresses as values")
struct IPAddressTests {
    @Test(
        "read and printed as RFC 5952 says",
        arguments: [
            ("192.0.2.1", "192.0.2.1"), ("::", "::"), ("::1", "::1"), ("fe80::1%3", "fe80::1%3"),
            ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"),
            ("2001:DB8::0001", "2001:db8::1"), ("1:0:2:0:3:0:4:0", "1:0:2:0:3:0:4:0"), ("::ffff:192.0.2.1", "::ffff:c000:201"),
            ("ff12::1951", "ff12::1951"), ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("0:0:1::", "0:0:1::"),
        ])
    func text(input: String, expected: String) throws {
        #expect(try #require(IPAddress(input)).description == expected)
    }

    @Test(
        "refused",
        arguments: [
            "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.+4", " 1.2.3.4", ":::", "1::2::3", "12345::", "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7", "fe80::1%eth0", "::1.2.3", "g::", "1:2:3:4:5:6:7:8::",
        ])
    func refused(text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test("endpoints", arguments: ["127.0.0.1:80", "[fe80::1%2]:19510", "[::]:0"])
    func endpoints(text: String) throws {
        #expect(try #require(Endpoint(text)).description == text)
    }

    @Test("endpoints refused", arguments: ["127.0.0.1", "127.0.0.1:65536", "::1:80", "[::1]", "[127.0.0.1]:1", ":80"])
    func refusedEndpoints(text: String) {
        #expect(Endpoint(text) == nil)
    }

    @Test("kinds of address")
    func kinds() throws {
        let address = { (text: String) in try #require(IPAddress(text)) }
        #expect(try address("239.255.19.51").isMulticast && address("ff12::1951").isMulticast && !address("192.0.2.1").isMulticast)
        #expect(try address("169.254.1.1").isLinkLocal && address("fe80::1").isLinkLocal && !address("fec0::1").isLinkLocal)
        for text in ["10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "fd00::1", "127.0.0.1", "::1"] {
            #expect(try address(text).isPrivate, "\(text)")
        }
        for text in ["172.32.0.1", "192.0.2.1", "2001:db8::1", "11.0.0.1"] { #expect(try !address(text).isPrivate, "\(text)") }
        #expect(try address("fe80::1").scoped(to: 4) == address("fe80::1%4"))
        #expect(try address("2001:db8::1").scoped(to: 4) == address("2001:db8::1"))
    }

    @Test("networks")
    func networks() throws {
        let address = { (text: String) in try #require(IPAddress(text)) }
        #expect(try address("10.1.2.3").isInSameNetwork(as: address("10.1.2.200"), prefixLength: 24))
        #expect(try !address("10.1.2.3").isInSameNetwork(as: address("10.1.3.3"), prefixLength: 24))
        #expect(try address("10.1.2.3").isInSameNetwork(as: address("99.0.0.1"), prefixLength: 0))
        #expect(try address("2001:db8::1").isInSameNetwork(as: address("2001:db8::ffff"), prefixLength: 112))
        #expect(try !address("2001:db8::1").isInSameNetwork(as: address("2001:db8::1:ffff"), prefixLength: 112))
        #expect(try !address("10.1.2.3").isInSameNetwork(as: address("::1"), prefixLength: 0))
    }
}
