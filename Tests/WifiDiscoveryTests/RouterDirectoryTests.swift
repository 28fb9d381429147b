import Foundation
import SocketCore
import Testing
import WifiDiscovery

@Suite("The list of known routers on disk", .timeLimit(.minutes(10)))
struct RouterDirectoryTests {
    private func withHome(_ body: (String) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("directory-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try body(path)
    }

    private func found(_ last: UInt8, name: String = "") -> FoundRouter {
        let description = RouterDescription(mac: MACAddress(2, 0, 0x5e, 0, 0x53, last), name: name, tcp: 19510, versions: [1])
        let router = DiscoveredRouter(router: description, place: .init(.v4(0x7F00_0001), interface: 1))
        return FoundRouter(discovered: router, grading: Grading(.unknown, .noLink, distance: nil), evidence: Evidence(), interface: "lo")
    }

    @Test("what a scan found is there for the next process, and the current one stays current")
    func merging() throws {
        try withHome { home in
            let directory = RouterDirectory(home: home)
            #expect(try directory.load().all.isEmpty)
            try directory.merge([found(1, name: "Attic"), found(2)], now: .zero)
            try directory.update { $0.setCurrent(MACAddress(2, 0, 0x5e, 0, 0x53, 2)) }
            try RouterDirectory(home: home).merge([found(3), found(1, name: "Cellar")], now: .zero)
            let known = try RouterDirectory(home: home).load()
            #expect(known.all.map(\.router.mac.description) == ["02:00:5e:00:53:02", "02:00:5e:00:53:03", "02:00:5e:00:53:01"])
            #expect(known.current == MACAddress(2, 0, 0x5e, 0, 0x53, 2))
            #expect(known.find(RouterReference("cellar")) != .unknown)
        }
    }

    @Test("when a router was seen last is kept, and an announcement that counts for nothing doesn't change it")
    func lastSeen() throws {
        try withHome { home in
            let directory = RouterDirectory(home: home)
            let days = (1...3).map { WallTime(year: 2026, month: 11, day: $0) }
            let mac = MACAddress(2, 0, 0x5e, 0, 0x53, 1)
            var answer = found(1)
            answer.discovered.isConfirmed = true
            try directory.merge([answer], now: .zero, date: days[0])
            #expect(try directory.load()[mac]?.lastSeen == days[0])
            try directory.merge([answer], now: .zero, date: days[1])
            var announced = answer
            announced.discovered.isConfirmed = false
            try directory.merge([announced], now: .zero, date: days[2])
            let known = try #require(try directory.load()[mac])
            #expect(known.lastSeen == days[1])
            #expect("\(ManagerError.notAnswering(known))".contains("2026-11-02T00:00:00Z"))
        }
    }

    @Test("other keys of the state file stay as they are")
    func otherKeys() throws {
        try withHome { home in
            let file = StateFile(directory: home)
            try file.update { $0 = ["trust": ["a"]] }
            try RouterDirectory(file: file).merge([found(1)], now: .zero)
            #expect(try file.read()?["trust"] == ["a"])
            #expect(try RouterDirectory(file: file).load().all.count == 1)
        }
    }

    @Test("as many routers as a directory holds fit into the file and are read again")
    func full() throws {
        try withHome { home in
            let directory = RouterDirectory(home: home)
            let template = found(1, name: String(repeating: "ü", count: 30))
            try directory.merge(
                (0..<DirectoryCore.capacity).map { index in
                    var one = template
                    one.discovered.router.mac = MACAddress(bits: 0x0200_5E00_0000).advanced(by: index)
                    return one
                }, now: .zero)
            #expect(try directory.load().all.count == DirectoryCore.capacity)
        }
    }
}
