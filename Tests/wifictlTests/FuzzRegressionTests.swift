import Foundation
import Testing

@testable import wifictl

/// Every stream that ever broke a parser, and the small corpus that the fuzzers start from: read in every test run.
@Suite struct FuzzRegressionTests {
    private static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures/fuzz")

    @Test(arguments: ParserProperties.all.map(\.name))
    func `the parser stands its fixtures`(name: String) throws {
        let check = try #require(ParserProperties.all.first { $0.name == name }).check
        let files = try FileManager.default.contentsOfDirectory(atPath: Self.fixtures.appending(path: name).path)
        #expect(!files.isEmpty)
        for file in files {
            let bytes = [UInt8](try Data(contentsOf: Self.fixtures.appending(path: "\(name)/\(file)")))
            let complaint = check(bytes)
            #expect(complaint == nil, "\(name)/\(file)")
        }
    }
}
