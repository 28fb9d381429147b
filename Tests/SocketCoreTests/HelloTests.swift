import FrameCodec
import SessionSimulation
import SocketCore
import Testing

@Suite("hellos (protocol.md, section 3)")
struct HelloTests {
    private let controller = """
        {"hello":{"session":"0123456789abcdeffedcba9876543210","versions":[1],"received":0,"client":"wifictl/0.1","resume":false}}
        """
    private let router = """
        {"hello":{"session":"0123456789abcdeffedcba9876543210","boot":"00000000000000b1","version":1,"received":7,"resumed":true,\
        "mac":"02:00:5e:00:53:01","name":"Attic"}}
        """

    private func controllerHello(_ text: String) throws -> ControllerHello { try ControllerHello(Array(text.utf8).span.bytes) }
    private func routerHello(_ text: String) throws -> RouterHello { try RouterHello(Array(text.utf8).span.bytes) }

    @Test("are read and written as the protocol shows them")
    func roundTrip() throws {
        let ours = try controllerHello(controller)
        #expect(ours.session == SessionPair.session)
        #expect(String(decoding: ours.encoded(), as: UTF8.self) == controller)
        let theirs = try routerHello(router)
        #expect(theirs.received == 7)
        #expect(theirs.identity.name == "Attic")
        #expect(String(decoding: theirs.encoded(), as: UTF8.self) == router)
    }

    @Test("optional keys: the station asked about and where it's seen")
    func optional() throws {
        var ours = try controllerHello(controller)
        ours.station = "02:00:5e:00:53:77"
        #expect(try ControllerHello(ours.encoded().span.bytes) == ours)
        var theirs = try routerHello(router)
        theirs.sees = RouterHello.Sees(station: true, via: "02:00:5e:00:53:11")
        #expect(try RouterHello(theirs.encoded().span.bytes) == theirs)
    }

    @Test("a router names the access points behind it; what isn't a list of texts names none")
    func children() throws {
        func text(_ children: String) -> String {
            #"{"hello":{"session":"0123456789abcdeffedcba9876543210","boot":"00000000000000b1","version":1,"received":7,"resumed":true,"#
                + #""mac":"02:00:5e:00:53:01","children":\#(children)}}"#
        }
        let hello = try routerHello(text(#"["02:00:5e:00:53:02",7,"x"]"#))
        #expect(hello.identity.children == ["02:00:5e:00:53:02", "x"])
        #expect(try RouterHello(hello.encoded().span.bytes) == hello)
        #expect(try routerHello(text("true")).identity.children.isEmpty)
        let many = (0..<40).map { "\"\($0)\"" }.joined(separator: ",")
        #expect(try routerHello(text("[\(many)]")).identity.children.count == SessionLimits.children)
    }

    @Test("a router with a list of stations answers where one sits, and one without leaves the question open")
    func stations() {
        let now = Instant.zero
        func sees(_ stations: [String: String], _ station: String?) -> RouterHello.Sees? {
            var configuration = SessionConfiguration(role: .router)
            configuration.stations = stations
            let session = SessionIdentifier.random()
            var core = SessionCore(configuration, session: session, seed: 1, now: now)
            let hello = ControllerHello(session: session, versions: [1], received: 0, resume: false, station: station)
            _ = core.accept(hello, version: 1, now: now)
            return core.opening?.router?.sees
        }
        let stations = ["02:00:5e:00:53:77": "02:00:5e:00:53:02"]
        #expect(sees(stations, "02:00:5E:00:53:77") == RouterHello.Sees(station: true, via: "02:00:5e:00:53:02"))
        #expect(sees(stations, "02:00:5e:00:53:78") == RouterHello.Sees(station: false))
        #expect(sees(stations, nil) == nil)
        #expect(sees([:], "02:00:5e:00:53:77") == nil)
    }

    @Test("unknown keys are ignored")
    func unknownKeys() throws {
        #expect(try controllerHello(controller.replacing("\"received\"", with: "\"later\":{\"a\":[1]},\"received\"")).received == 0)
    }

    @Test("an optional key that is ill-typed is as good as none", arguments: ["5", "null", "[\"wifictl\"]", "{}"])
    func optionalKeys(value: String) throws {
        #expect(try controllerHello(controller.replacing("\"wifictl/0.1\"", with: value)).client == nil)
        let router =
            #"{"hello":{"session":"0123456789abcdeffedcba9876543210","boot":"00000000000000aa","version":1,"received":0,"#
            + #""resumed":false,"mac":"02:00:5e:00:53:01","name":VALUE,"children":VALUE,"sees":VALUE}}"#
        let hello = try RouterHello(Array(router.replacing("VALUE", with: value).utf8).span.bytes)
        #expect(hello.identity.name == nil && hello.sees == nil && hello.identity.mac == "02:00:5e:00:53:01")
    }

    @Test(
        "ill-typed or missing required keys are refused by name",
        arguments: [
            ("\"session\":\"0123456789abcdeffedcba9876543210\"", "\"session\":\"0123456789abcdef\"", "session"),
            ("\"session\"", "\"sessions\"", "session"), ("[1]", "[]", "versions"), ("[1]", "[0]", "versions"),
            ("[1]", "[1,\"2\"]", "versions"), ("[1]", "1", "versions"), ("\"received\":0", "\"received\":-1", "received"),
            ("\"received\":0", "\"received\":4294967296", "received"), ("\"received\":0", "\"received\":0.5", "received"),
            ("false", "0", "resume"), ("\"hello\"", "\"hallo\"", "hello"),
        ])
    func refused(find: String, replace: String, key: String) {
        #expect(throws: HelloError.badKey(key)) { try controllerHello(controller.replacing(find, with: replace)) }
    }

    @Test("no JSON, and too much of it")
    func notJSON() {
        #expect(throws: HelloError.self) { try controllerHello("GET / HTTP/1.1") }
        let long = "{\"hello\":{\"pad\":\"" + String(repeating: "x", count: 4_096) + "\"}}"
        #expect(throws: HelloError.tooLong(bytes: long.utf8.count, limit: 4_096)) { try controllerHello(long) }
    }

    @Test("a router's greeting takes a hello, refuses strangers, and names its versions when none fits")
    func greeting() throws {
        var configuration = SessionConfiguration(role: .router)
        configuration.versions = [1, 2]
        let greeting = Greeting(configuration, now: .zero)
        #expect(greeting.deadline == .zero + .seconds(5))
        let hello = try controllerHello(controller)
        let body = Array(controller.utf8)
        let header = FrameHeader(msgId: 0, version: 1, bodyLength: body.count)
        #expect(greeting.receive(header, body: body.span.bytes) == .welcome(hello, version: 1))
        let first = FrameHeader(msgId: 9, version: 1, bodyLength: body.count)
        #expect(greeting.receive(first, body: body.span.bytes) == .refuse(reply: [], .badHello(.notAHello)))
        let later = Array(controller.replacing("[1]", with: "[7,9]").utf8)
        let answer = Array("{\"error\":{\"code\":\"version\",\"versions\":[1,2]}}".utf8)
        let frame = try FrameEncoder().encode(Frame(msgId: 0, body: answer))
        #expect(
            greeting.receive(FrameHeader(msgId: 0, version: 1, bodyLength: later.count), body: later.span.bytes)
                == .refuse(reply: frame, .versionRefused(theirs: [7, 9])))
    }

    @Test("the time for the hello begins once TLS is up, which has the time of any connecting")
    func greetingAfterTLS() {
        let configuration = SessionConfiguration(role: .router)
        var greeting = Greeting(configuration, isSecured: true, now: .zero)
        #expect(greeting.deadline == Instant.zero + configuration.timing.connect)
        #expect(greeting.overdue == .transport("no TLS handshake within \(configuration.timing.connect)"))
        greeting.opened(now: .zero + .seconds(9))
        #expect(greeting.deadline == Instant.zero + .seconds(14))
        #expect(greeting.overdue == .noHello(after: .seconds(5)))
    }

    @Test("a controller that is refused says which versions the router speaks")
    func versionRefused() {
        var core = SessionCore(SessionConfiguration(role: .controller), session: SessionPair.session, seed: 1, now: .zero)
        core.start(now: .zero)
        let number = core.connection
        core.connected(number, now: .zero)
        let body = Array("{\"error\":{\"code\":\"version\",\"versions\":[2,3]}}".utf8)
        _ = core.receive(FrameHeader(msgId: 0, version: 2, bodyLength: body.count), body: body.span.bytes, on: number, now: .zero)
        let events = core.takeEvents()
        #expect(events.states.contains(.lost(.versionRefused(theirs: [2, 3]))))
    }
}
