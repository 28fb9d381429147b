import TestSupport
import Testing

/// A neighbour that forges answers as fast as they are taken. `make flood` sends a million, to the tool as built for release.
@Suite("A flood on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(5)))
struct FloodLANTests {
    /// Past every bound, and few enough for a debug build.
    private static let count = 30_000

    @Test("forged replies fill what they may fill, and no more memory")
    func forged() async throws {
        try await TestLAN.with([TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0")]) { lan in
            let script = Repository.path("Tests/Flood/flood.py")
            let result = try await lan.run("ctl", ["python3", script, BuiltTool.path, "\(Self.count)"], within: .seconds(240))
            #expect(result.status == 0, "\(result.text)\(result.errorText)")
        }
    }
}
