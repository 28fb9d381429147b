import FrameCodec
import SocketCore
import TestSupport
import Testing
import WifiDiscovery

/// The discovery examples in docs/protocol.md, held against the code that they describe.
struct DiscoveryDocumentTests {
    private func message(_ name: String) throws -> DiscoveryDatagram.Message {
        for block in try DocumentBlock.all(in: "docs/protocol.md") where block.kind == "json" {
            let json = try JSONValue.parse(Array(block.text.utf8))
            guard json[name] != nil else { continue }
            let frame = try FrameEncoder().encode(Frame(msgId: 7, body: json.encoded()))
            return try DiscoveryDatagram.parse(frame.span.bytes).message
        }
        throw DatagramError.unknownMessage
    }

    @Test func `the probe on the page is read with all its keys`() throws {
        guard case .probe(let probe) = try message("probe") else {
            Issue.record("it is no probe")
            return
        }
        #expect(probe.nonce.description == "0f1e2d3c4b5a6978")
        #expect(probe.maxWaitMilliseconds == 100)
        #expect(probe.bssid?.description == "02:00:5e:00:53:11")
        #expect(probe.known.map(\.description) == ["02:00:5e:00:53:02"])
    }

    @Test func `the reply on the page is read with all its keys and comes back from being written`() throws {
        guard case .reply(let nonce, let router) = try message("reply") else {
            Issue.record("it is no reply")
            return
        }
        #expect(nonce.description == "0f1e2d3c4b5a6978")
        #expect(router.mac.description == "02:00:5e:00:53:01")
        #expect([router.name, router.vendor, router.model, router.firmware] == ["Attic", "Example", "AX-2", "1.4.2"])
        #expect(router.tcp == 19510 && router.tls && router.versions == [1] && router.uptime == 86_400)
        #expect(router.radios.map { "\($0.bssid) \($0.ssid) \($0.band)" } == ["02:00:5e:00:53:11 Home 5"])
        #expect(router.mld.map(\.description) == ["02:00:5e:00:53:1f"])
        let written = DiscoveryDatagram(msgId: 7, .reply(nonce: nonce, router)).encoded()
        #expect(try DiscoveryDatagram.parse(written.span.bytes).message == .reply(nonce: nonce, router))
    }

    @Test func `the smallest reply on the page is read, and said the same by the encoder`() throws {
        let block = try #require(try DocumentBlock.all(in: "docs/protocol.md").first { $0.kind == "datagram" })
        let datagram = try DiscoveryDatagram.parse(block.bytes.span.bytes)
        #expect(datagram.msgId == 0x5EED_0001)
        guard case .reply(let nonce, let router) = datagram.message else {
            Issue.record("it is no reply")
            return
        }
        #expect(nonce.description == "0f1e2d3c4b5a6978" && router.mac.description == "02:00:5e:00:53:01")
        #expect(router.tcp == 19510 && router.versions == [1] && !router.tls && router.radios.isEmpty)
        let written = try DiscoveryDatagram.parse(datagram.encoded().span.bytes)
        #expect(written == datagram)
    }

    @Test func `ports, groups and sizes on the page are the code's`() throws {
        let page = try DocumentBlock.document("docs/protocol.md")
        for row in [
            "| UDP port | \(DiscoveryDatagram.port) |", "| IPv4 group | \(DiscoveryDatagram.groupV4) |",
            "| IPv6 group | \(DiscoveryDatagram.groupV6), link-local scope |", "up to \(Probe.maximumKnown) MACs",
            "Probes are at least \(Probe.minimumByteCount) bytes long",
        ] { #expect(page.contains(row), "\(row)") }
    }
}
