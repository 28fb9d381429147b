import Foundation
import TestSupport
import Testing

@Suite("The README's example")
struct ReadmeExample {
    @Test("what the README shows is what compiles, and what a test runs")
    func sameLines() throws {
        let compiled = try String(contentsOfFile: Repository.path("Tests/FirstLines/main.swift"), encoding: .utf8)
        let readme = try String(contentsOfFile: Repository.path("README.md"), encoding: .utf8)
        let shown = try #require(readme.split(separator: "```swift\n").last?.split(separator: "```\n").first.map(String.init))
        #expect(shown == compiled)
    }
}
