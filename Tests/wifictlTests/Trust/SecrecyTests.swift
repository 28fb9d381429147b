import Foundation
import SocketCore
import TestSupport
import Testing

/// Private keys stay in their files: 0600, in no output, no log and no state.
@Suite("Secrets", .timeLimit(.minutes(10)))
struct SecrecyTests {
    /// Forms in which a P-256 key could show: lines of its PEM, its number in hex of either case with and without colons, and in base64.
    private func forms(ofKeyIn file: String) throws -> [String] {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("-----") }
        let whole = try #require(Data(base64Encoded: lines.joined()))
        // PKCS #8 around RFC 5915: the number is the first octet string of 32 bytes.
        let mark = try #require(whole.range(of: Data([0x04, 0x20])), "no P-256 key: \(file)")
        let number = whole[mark.upperBound..<(mark.upperBound + 32)]
        let pairs = number.map { String(format: "%02x", $0) }
        let hex = [pairs.joined(), pairs.joined(separator: ":")]
        return lines + hex + hex.map { $0.uppercased() } + [number.base64EncodedString()]
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    private func files(below folder: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: folder).map { "\(folder)/\($0)" }.filter {
            var isFolder: ObjCBool = false
            return FileManager.default.fileExists(atPath: $0, isDirectory: &isFolder) && !isFolder.boolValue
        }
    }

    @Test func `no key shows in anything that the tool prints or keeps, and all of it is private to its owner`() async throws {
        let (fleet, home) = (try TemporaryDirectory(), try TemporaryDirectory())
        let company = fleet.file("company")
        let port = try Loopback.freePort()
        let (device, controller) = (company + "/devices/02005e005301", company + "/operators/field-7")
        var said: [(words: String, text: String)] = []
        func run(_ words: [String], status: Int32 = 0) async throws {
            let result = try await BuiltTool.run(words + ["--verbose"], home: home.path)
            #expect(result.status == status, "\(words): \(result.errorText)")
            said.append((words.joined(separator: " "), result.text + result.errorText))
        }
        try await run(["identity", "new-company", company])
        try await run(["identity", "issue-device", company, "--mac", VerifyToolTests.mac])
        try await run(["identity", "issue-operator", company, "--id", "field-7"])
        for file in [device + ".pem", device + ".key", company + "/company-root.key"] { try await run(["identity", "show", file]) }
        let (router, _) = try await Loopback.router(
            port: port,
            ["--mac", VerifyToolTests.mac, "--tcp", "0", "--verbose", "--identity", device + ".pem", "--key", device + ".key"]
                + ["--client-root", company + "/operator-root.pem"])
        let on = VerifyToolTests.on(port)
        let talking = on + ["--identity", controller + ".pem", "--key", controller + ".key"]
        try await run(["trust", "pin", VerifyToolTests.mac] + on)
        // Where the key belongs, the certificate is given, and the other way round.
        try await run(["send", VerifyToolTests.mac, "x", "--identity", controller + ".key", "--key", controller + ".pem"] + on, status: 2)
        try await run(["trust", "add", controller + ".key"], status: 2)
        try await run(["trust", "add", company + "/company-root.pem"])
        try await run(["verify", "--for", "1s", "--json"] + talking)
        try await run(["send", VerifyToolTests.mac, "hello", "--json"] + talking)
        router.signal(SIGINT)
        let log = try await router.result()
        said.append(("router", log.text + log.errorText))
        for file in try files(below: home.path) {
            said.append((file, String(decoding: try Data(contentsOf: URL(fileURLWithPath: file)), as: UTF8.self)))
            #expect(try mode(file) == 0o600, "\(file)")
        }
        let keys = try files(below: company).filter { $0.hasSuffix(".key") }
        #expect(keys.count == 4)
        for key in keys {
            #expect(try mode(key) == 0o600, "\(key)")
            for form in try forms(ofKeyIn: key) {
                for (words, text) in said { #expect(!text.contains(form), "\(key) shows in what \(words) says") }
            }
        }
    }
}
