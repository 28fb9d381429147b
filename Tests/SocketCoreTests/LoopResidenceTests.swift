import Foundation
import TestSupport
import Testing

@Suite("Which thread a loop lives on")
struct LoopResidenceTests {
    /// Tests are built without optimisation, and the answer that was reused across an `await` came only with it.
    @Test(.timeLimit(.minutes(10))) func `optimised code asks anew after each await, on whatever thread it goes on`() async throws {
        let home = try TemporaryDirectory()
        let sources = [
            "Fixtures/loop/residence.swift", "Sources/SocketCore/Loop/LoopResidence.swift", "Sources/SocketCore/Sockets/SystemError.swift",
        ]
        let compiled = try await runCommand(
            [
                "swiftc", "-O", "-whole-module-optimization", "-swift-version", "6", "-parse-as-library", "-package-name", "wifi", "-o",
                home.file("residence"),
            ]
                + sources.map { Repository.root.appending(path: $0).path }, within: .seconds(600))
        try #require(compiled.status == 0, "\(compiled.errorText)")
        let result = try await runCommand([home.file("residence")], within: .seconds(600))
        #expect(result.text == "both right\n", "\(result.errorText)")
    }
}
