import SocketCore
import Testing

@testable import WifiDiscovery

struct DescriptionFetchTests {
    private let source = IPAddress.v4(192, 0, 2, 1)

    @Test(arguments: [
        "https://192.0.2.1/", "http://192.0.2.2/", "http://router/", "http://user@192.0.2.1/", "http://192.0.2.1:0/",
        "http://192.0.2.1:99999/",
        "http://192.0.2.1:80:80/", "http://192.0.2.1/a b", "http://192.0.2.1/\r\nX: y", "http://[::1]/", "http://", "//192.0.2.1/",
        "http://192.0.2.1:+80/", "http://192.0.2.1/ü", "http://0xC0000201/", "http://3221225985/", "ftp://192.0.2.1/",
        "http://192.0.2.1@192.0.2.9/", "http://192.0.2.1/" + String(repeating: "a", count: 600),
    ])
    func `A location elsewhere or out of shape is none`(url: String) { #expect(HTTPLocation(url, from: source) == nil) }

    @Test func `A location on the sender is taken apart`() throws {
        let plain = try #require(HTTPLocation("HTTP://192.0.2.1:5000/a/b.xml?c=1#d", from: source))
        #expect(plain.endpoint == Endpoint(source, port: 5000))
        #expect(plain.target == "/a/b.xml?c=1")
        #expect(String(decoding: plain.request, as: UTF8.self).hasPrefix("GET /a/b.xml?c=1 HTTP/1.1\r\nHost: 192.0.2.1:5000\r\n"))
        #expect(HTTPLocation("http://192.0.2.1", from: source)?.target == "/")
        #expect(HTTPLocation("http://192.0.2.1?x", from: source)?.target == "/?x")
        let linkLocal = try #require(IPAddress("fe80::1%7"))
        let scoped = try #require(HTTPLocation("http://[fe80::1%25eth0]:80/x", from: linkLocal))
        #expect(scoped.endpoint.address == linkLocal)
        #expect(String(decoding: scoped.request, as: UTF8.self).contains("Host: [fe80::1]\r\n"))
    }

    private func whole(_ text: String, ends: Bool = false, step: Int = .max) throws(HTTPAnswerError) -> [UInt8]? {
        var answer = HTTPAnswer()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let piece = rest.prefix(step)
            rest = rest.dropFirst(step)
            if let body = try answer.take(piece) { return body }
        }
        return ends ? try answer.finish() : nil
    }

    @Test(arguments: [1, 2, 7, Int.max])
    func `An answer is the same however it is cut`(step: Int) throws {
        let body = Array("hello".utf8)
        #expect(try whole("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", step: step) == body)
        #expect(try whole("HTTP/1.0 200 OK\nServer: x\n\nhello", ends: true, step: step) == body)
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n"
        #expect(try whole(chunked, step: step) == body)
    }

    @Test(arguments: [
        ("HTTP/1.1 302 Found\r\nLocation: http://192.0.2.9/\r\n\r\n", HTTPAnswerError.status(302)), ("SSH-2.0-x\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nContent-Length: 65537\r\n\r\n", .tooLong(limit: 65_536)),
        ("HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", .malformed),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFF\r\n", .tooLong(limit: 65_536)),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", .truncated), ("HTTP/1.1 200", .truncated),
    ])
    func `A server that answers wrongly is told as such`(text: String, error: HTTPAnswerError) {
        #expect(throws: error) { try whole(text, ends: true) }
    }

    @Test func `Heads and bodies without end are cut off`() {
        var endless = HTTPAnswer()
        #expect(throws: HTTPAnswerError.tooLong(limit: HTTPAnswer.maximumHead)) {
            while true { _ = try endless.take([UInt8](repeating: 0x41, count: 1_000)) }
        }
        var body = HTTPAnswer()
        #expect(throws: HTTPAnswerError.tooLong(limit: HTTPAnswer.maximumBody)) {
            _ = try body.take("HTTP/1.1 200 OK\r\n\r\n".utf8)
            while true { _ = try body.take([UInt8](repeating: 0x41, count: 1_000)) }
        }
    }

    @Test func `A description is read from the root device alone`() throws {
        let description = try UPnPDescription(try DialectFixture.file("gateway.xml"))
        #expect(description.isGateway)
        #expect(description.name == "Attic & Cellar ☕")
        #expect(description.vendor == "Example & Sons")
        let found = try #require(SSDPDialect().parse(try DialectFixture.datagram("ssdp-igd1"), from: DialectFixture.router))
        let complete = description.completing(found)
        #expect(complete.model == "AX-2 rev. 3")
        #expect(complete.identity == found.identity)
        #expect(complete.location == found.location)
        #expect(complete.services.count == 2)
    }

    private func failure(_ text: String) -> XMLReader.Failure? {
        do throws(XMLReader.Failure) {
            _ = try UPnPDescription(Array(text.utf8))
            return nil
        } catch { return error }
    }

    @Test func `What could grow or reach out is refused`() {
        #expect(failure("<!DOCTYPE root [<!ENTITY a \"aa\">]><root>&a;</root>") == .declaresType)
        #expect(failure(String(repeating: "<a>", count: 100)) == .tooLarge)
        #expect(failure("<a>" + String(repeating: "<b/>", count: 5_000) + "</a>") == .tooLarge)
        #expect(failure("<a>" + String(repeating: "x", count: 70_000) + "</a>") == .tooLarge)
        #expect(failure("<a><b></a></b>") == .malformed(offset: 6))
        #expect(failure("<a>") == .malformed(offset: 3))
        #expect(failure("hello") == .malformed(offset: 0))
        #expect(failure("<a>&unknown; &#0; &#xD800; &</a>") == nil)
        #expect(failure("\u{FEFF}<?xml version=\"1.0\"?><s:a x='>'/>") == nil)
    }

    @Test func `Bent descriptions end, one way or the other`() throws {
        let document = try DialectFixture.file("gateway.xml")
        for seed in UInt64(0)..<1_500 {
            var generator = SeededGenerator(seed: seed)
            let bent = DialectFixture.bent(document, &generator)
            guard let description = try? UPnPDescription(bent) else { continue }
            #expect(description.services.count <= DeviceDescription.maximumServices, "seed \(seed)")
        }
    }

    @Test func `Bent answers end, one way or the other`() {
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n",
        ]
        for text in answers {
            for seed in UInt64(0)..<1_500 {
                var generator = SeededGenerator(seed: seed)
                let bent = String(decoding: DialectFixture.bent(Array(text.utf8), &generator), as: UTF8.self)
                let body = try? whole(bent, ends: true, step: Int.random(in: 1...9, using: &generator))
                #expect((body ?? []).count <= HTTPAnswer.maximumBody, "seed \(seed)")
            }
        }
    }
}
