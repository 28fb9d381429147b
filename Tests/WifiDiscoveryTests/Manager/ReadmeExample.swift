import Foundation
import TestSupport
import Testing
// The README's example, compiled: between the marks it stands there word for word, which the test below checks.
// example
import WifiDiscovery

private func example() async throws {
    let discovery = try RouterDiscovery()
    for try await router in discovery.routers(for: .seconds(3)) { print(router.name, router.mac, router.grade) }

    let manager = RouterManager()
    let router = try await manager.connect()  // finds, grades, opens the session
    print(try await router.get("wifi.ssid"))
    for await change in router.changes(of: "clients") { print(change) }
    try await manager.switch(to: "02:00:5e:00:53:02")
}
// end

@Suite("The README's example")
struct ReadmeExample {
    @Test("what the README shows is what compiles")
    func sameLines() throws {
        let lines = { (text: String) in
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter {
                !$0.isEmpty && $0 != "}" && !$0.hasPrefix("private func")
            }
        }
        let source = try String(contentsOfFile: Repository.path("Tests/WifiDiscoveryTests/Manager/ReadmeExample.swift"), encoding: .utf8)
        let compiled = try #require(source.split(separator: "// example\n").last?.split(separator: "// end\n").first.map(String.init))
        let readme = try String(contentsOfFile: Repository.path("README.md"), encoding: .utf8)
        let shown = try #require(readme.split(separator: "```swift\n").last?.split(separator: "```\n").first.map(String.init))
        #expect(lines(shown) == lines(compiled))
    }
}
