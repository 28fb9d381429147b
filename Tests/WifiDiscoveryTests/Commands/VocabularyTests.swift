import SocketCore
import Testing

@testable import WifiDiscovery

@Suite("The sample vocabulary (protocol.md, section 7)")
struct VocabularyTests {
    let me = SessionIdentifier(high: 1, low: 1)
    let other = SessionIdentifier(high: 2, low: 2)

    func text(_ body: [UInt8]) -> String { String(decoding: body, as: UTF8.self) }

    @Test("base64 there and back, as RFC 4648 shows it")
    func base64() {
        let pairs = [
            ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="), ("foobar", "Zm9vYmFy"),
        ]
        for (plain, encoded) in pairs {
            #expect(Base64.encode(plain.utf8) == encoded)
            #expect(Base64.decode(encoded) == Array(plain.utf8))
        }
        for wrong in ["Zg=", "Zg", "Z===", "Zh==", "Zm9=", "Zm 9", "====", "Zg==Zg=="] { #expect(Base64.decode(wrong) == nil, "\(wrong)") }
    }

    @Test(
        "requests as the protocol writes them",
        arguments: [
            (DeviceRequest.capabilities, #"{"op":"capabilities"}"#), (.get(names: ["wifi.ssid"]), #"{"op":"get","names":["wifi.ssid"]}"#),
            (.set(values: [.init("wifi.ssid", "Attic")]), #"{"op":"set","values":{"wifi.ssid":"Attic"}}"#),
            (.subscribe(names: ["clients"]), #"{"op":"subscribe","names":["clients"]}"#),
            (.read(stream: "log", offset: 0, count: 1024), #"{"op":"read","stream":"log","offset":0,"count":1024}"#),
            (.reboot, #"{"op":"reboot"}"#),
        ])
    func requests(request: DeviceRequest, expected: String) {
        #expect(text(request.encoded()) == expected)
        #expect(DeviceRequest(Array(expected.utf8)) == request)
    }

    @Test("answers and news as the protocol writes them")
    func replies() {
        let pairs: [(DeviceReply, String)] = [
            (.answer(to: 8, .success(["wifi.ssid": "Home"])), #"{"re":8,"ok":true,"value":{"wifi.ssid":"Home"}}"#),
            (
                .answer(to: 13, .failure(DeviceFault(code: "unknownOp", text: "no"))),
                #"{"re":13,"ok":false,"error":{"code":"unknownOp","text":"no"}}"#
            ),
            (
                .changed(mac: "02:00:5e:00:53:01", values: [.init("clients", 4)]),
                #"{"event":"changed","mac":"02:00:5e:00:53:01","values":{"clients":4}}"#
            ),
        ]
        for (reply, expected) in pairs {
            #expect(text(reply.encoded()) == expected)
            #expect(DeviceReply(Array(expected.utf8)) == reply)
        }
    }

    @Test(
        "bodies that are no request are opaque; an operation that isn't known, or ill-typed, is refused",
        arguments: ["x", "[1]", "{}", "{\"op\":1}"])
    func opaque(body: String) {
        var device = SampleDevice(mac: "02:00:5e:00:53:01", ssid: "Home")
        #expect(device.receive(Array(body.utf8), msgId: 1, from: me) == SampleDevice.Step())
        let step = device.receive(Array(#"{"op":"get","names":[1]}"#.utf8), msgId: 2, from: me)
        #expect(step.messages.map { text($0.body) } == [#"{"re":2,"ok":false,"error":{"code":"unknownOp","text":"no such op: get"}}"#])
    }

    @Test("a change reaches those who subscribed to it, and nobody else")
    func subscription() {
        var device = SampleDevice(mac: "02:00:5e:00:53:01", ssid: "Home")
        _ = device.receive(DeviceRequest.subscribe(names: ["wifi.ssid"]).encoded(), msgId: 1, from: other)
        let step = device.receive(
            DeviceRequest.set(values: [.init("wifi.ssid", "Attic"), .init("led", false)]).encoded(), msgId: 2, from: me)
        #expect(step.messages.map(\.to) == [other, me])
        #expect(text(step.messages[0].body) == #"{"event":"changed","mac":"02:00:5e:00:53:01","values":{"wifi.ssid":"Attic"}}"#)
        device.forget(other)
        #expect(device.change("wifi.ssid", to: "Cellar") == SampleDevice.Step())
    }

    @Test("what can't be written is refused, and nothing of the request is done")
    func readOnly() {
        var device = SampleDevice(mac: "02:00:5e:00:53:01", ssid: "Home")
        let step = device.receive(DeviceRequest.set(values: [.init("led", false), .init("clients", 9)]).encoded(), msgId: 1, from: me)
        #expect(text(step.messages[0].body).contains(#""code":"readOnly""#))
        #expect(device.properties.first { $0.name == "led" }?.property.value == true)
    }

    @Test("a stream comes in pieces that make the whole, and past its end there's nothing")
    func read() throws {
        var device = SampleDevice(mac: "02:00:5e:00:53:01", ssid: "Home")
        var whole: [UInt8] = []
        while true {
            let request = DeviceRequest.read(stream: "log", offset: whole.count, count: 1_000)
            let body = device.receive(request.encoded(), msgId: 1, from: me).messages[0].body
            guard case .answer(_, .success(let value)) = try #require(DeviceReply(body)) else {
                Issue.record("refused")
                return
            }
            let piece = try #require(StreamPiece(value))
            #expect(piece.offset == whole.count && piece.total == 5_120)
            whole += piece.data
            if piece.data.isEmpty { break }
        }
        let expected: [UInt8] = (0..<5_120).map { UInt8(($0 * 7 + 13) % 256) }
        #expect(whole == expected)
    }
}
