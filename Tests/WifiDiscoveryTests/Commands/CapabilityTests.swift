import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("What a device can do")
struct CapabilityTests {
    static let mac = MACAddress(0x02, 0, 0x5E, 0, 0x53, 1)
    static let capabilities = DeviceCapabilities(
        operations: ["get", "set"],
        properties: ["wifi.ssid": [.read, .write, .notify], "clients": [.read, .notify], "serial": [.read], "reset": [.write]],
        streams: ["log": 5_120])

    @Test("the sample device's own account is read, and reads back")
    func sample() throws {
        var device = SampleDevice(mac: "02:00:5e:00:53:01", ssid: "Home")
        let session = SessionIdentifier(high: 1, low: 2)
        let body = try #require(device.receive(DeviceRequest.capabilities.encoded(), msgId: 7, from: session).messages.first?.body)
        guard case .answer(7, .success(let value))? = DeviceReply(body) else {
            Issue.record("no answer")
            return
        }
        let read = try #require(DeviceCapabilities(value))
        #expect(
            read.properties == ["wifi.ssid": [.read, .write, .notify], "clients": [.read, .notify], "led": [.read, .write, .notify]])
        #expect(read.streams == ["log": 5_120] && read.operations.contains("reboot"))
        #expect(DeviceCapabilities(read.json) == read)
    }

    static let requests: [(DeviceRequest, CommandError?)] = [
        (.get(names: ["serial", "clients"]), nil), (.get(names: ["reset"]), .notPossible("reset", .notReadable)),
        (.get(names: ["nothing"]), .notPossible("nothing", .noProperty)), (.set(values: [.init("wifi.ssid", "x")]), nil),
        (.set(values: [.init("wifi.ssid", "x"), .init("clients", 1)]), .notPossible("clients", .notWritable)),
        (.subscribe(names: ["clients"]), nil), (.subscribe(names: ["serial"]), .notPossible("serial", .notNotifying)),
        (.read(stream: "log", offset: 0, count: 1), nil), (.read(stream: "x", offset: 0, count: 1), .notPossible("x", .noStream)),
        (.reboot, nil), (.capabilities, nil),
    ]

    @Test("a request is held against it", arguments: requests.indices)
    func obstacles(index: Int) {
        let (request, expected) = CapabilityTests.requests[index]
        #expect(CapabilityTests.capabilities.obstacle(to: request) == expected)
    }

    @Test(
        "what isn't an account of capabilities is none",
        arguments: ["{}", "[]", #"{"properties":[{"name":"a"}]}"#, #"{"properties":[],"streams":[{"name":"l","size":-1}]}"#])
    func malformed(text: String) throws { #expect(DeviceCapabilities(try JSONValue.parse(Array(text.utf8))) == nil) }

    @Test("good as long as boot and firmware stay, and over a restart")
    func cache() {
        var cache = CapabilityCache()
        let identity = CapabilityCache.Identity(CapabilityTests.mac, boot: "aa", firmware: "1.4")
        #expect(cache[identity] == nil)
        cache.keep(CapabilityTests.capabilities, of: identity)
        #expect(cache[identity] == CapabilityTests.capabilities)
        for other in [("ab", "1.4"), ("aa", "1.5"), ("aa", nil)] {
            #expect(cache[CapabilityCache.Identity(CapabilityTests.mac, boot: other.0, firmware: other.1)] == nil)
        }
        let restored = CapabilityCache(json: cache.json)
        #expect(restored[identity] == CapabilityTests.capabilities && restored.count == 1)
        #expect(CapabilityCache(json: ["format": 99, "routers": []]).count == 0 && CapabilityCache(json: .null).count == 0)
        let rebooted = CapabilityCache.Identity(CapabilityTests.mac, boot: "ab", firmware: "1.4")
        cache.keep(DeviceCapabilities(), of: rebooted)
        #expect(cache[identity] == nil && cache.count == 1)
    }

    @Test("the cache is bounded: the oldest goes, and nothing oversized is kept")
    func bounded() {
        var cache = CapabilityCache()
        let identity = { (number: Int) in CapabilityCache.Identity(CapabilityTests.mac.advanced(by: number), boot: "a", firmware: nil) }
        for number in 0...CapabilityCache.capacity { cache.keep(DeviceCapabilities(), of: identity(number)) }
        #expect(cache.count == CapabilityCache.capacity && cache[identity(0)] == nil && cache[identity(1)] != nil)
        let huge = DeviceCapabilities(streams: [String(repeating: "x", count: CapabilityCache.largestEntry): 1])
        cache.keep(huge, of: identity(5))
        #expect(cache[identity(5)] == nil)
    }

    @Test("the row of the table that fits first is the encoding")
    func encodings() {
        let tagged = { (tag: UInt8) in CommandEncoding(encode: { _ in [tag] }, decode: { _ in nil }) }
        let table = CommandEncodings([
            .init(versions: 1...1, firmware: { $0?.hasPrefix("0.") ?? true }, tagged(1)), .init(versions: 1...2, tagged(2)),
            .init(versions: 4...9, tagged(3)),
        ])
        let tag = { (version: UInt16, firmware: String?) in table.encoding(version: version, firmware: firmware)?.encode(.reboot)?.first }
        #expect(tag(1, "0.9") == 1 && tag(1, nil) == 1 && tag(1, "1.0") == 2 && tag(2, "0.9") == 2 && tag(9, nil) == 3)
        #expect(tag(3, nil) == nil && tag(10, nil) == nil)
    }
}
