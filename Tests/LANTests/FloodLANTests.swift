import Foundation
import Glibc
import SocketCore
import TestSupport
import Testing

/// A neighbour that forges answers as fast as they are taken.
@Suite("A flood on a LAN", .enabled(if: TestLAN.isWanted, "needs root and WIFI_LAN_TESTS=1"), .serialized, .timeLimit(.minutes(5)))
struct FloodLANTests {
    /// Each from one of 200 addresses, each a router of its own with a long name and eight radios; every fourth with a nonce that nobody
    /// asked with. Waits while the kernel holds more than the other side has taken, so that all are really handled.
    private static let flooder = """
        import os, random, socket, struct, sys
        total = int(sys.argv[1]); generator = random.Random(19510)
        sockets = []
        for number in range(200):
            s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind((f'127.1.0.{number + 1}', 0)); sockets.append(s)
        asked = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); asked.bind(('127.0.0.1', 29510)); print('ready', flush=True)
        data, place = asked.recvfrom(2000)
        line = ':%04X' % place[1]
        def waiting():
            with open('/proc/net/udp') as table:
                return max([int(row.split()[4].split(':')[1], 16) for row in table if row.split()[1].endswith(line)] or [0])
        def asking():
            global data
            asked.setblocking(False)
            try:
                while True: data = asked.recvfrom(2000)[0]
            except BlockingIOError: pass
            return data[:4], data[data.index(b'"nonce":"') + 9:][:16]
        identity, nonce = asking()
        for number in range(total):
            if number % 100 == 0:
                while waiting() > 100_000: pass
                identity, nonce = asking()
            token = nonce if number % 4 else b'%016x' % generator.getrandbits(64)
            mac = b'02:%02x:5e:%02x:%02x:%02x' % (number >> 24 & 255, number >> 16 & 255, number >> 8 & 255, number & 255)
            radios = b','.join(b'{"bssid":"06:%02x:00:%02x:%02x:%02x","ssid":"%s","band":"5"}' % (
                i, number >> 16 & 255, number >> 8 & 255, number & 255, b's' * 32) for i in range(8))
            body = b'{"reply":{"nonce":"%s","mac":"%s","name":"%s","vendor":"%s","model":"%s","tcp":1,"versions":[1],"boot":"%016x","radios":[%s]}}' % (
                token, mac, b'n' * 64, b'v' * 64, b'm' * 64, number, radios)
            sockets[number % 200].sendto(identity + struct.pack('>HI', 1, len(body)) + body, place)
        while waiting() > 0: pass
        print('sent', total, flush=True)
        """

    /// Debug builds and a busy machine included; a scan of nothing takes about 20 MiB.
    private static let mostMemory = 128 * 1024

    @Test("a million forged replies fill what they may fill, and no more memory", arguments: [1_000_000])
    func million(count: Int64) async throws {
        try await TestLAN.with([TestLAN.Host("ctl", mac: "02:00:5e:00:53:f0", addresses: ["192.0.2.100/24"])]) { lan in
            let home = try TemporaryDirectory()
            let flood = try lan.start("ctl", ["python3", "-c", Self.flooder, "\(count)"])
            _ = try await flood.line("ready")
            let words = ["discover", "--watch", "--json", "--interface", "lo", "--to", "127.0.0.1:29510", "--bssid", "none"]
            let watcher = try lan.start("ctl", [BuiltTool.path] + words + ["--home", home.path])
            _ = try await flood.line("sent", within: .seconds(270)) { $0.hasPrefix("sent") }
            let status = try String(contentsOfFile: "/proc/\(watcher.id)/status", encoding: .utf8)
            let peak = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }?.split(separator: " ").dropFirst().first)
            watcher.signal(SIGINT)
            let result = try await watcher.result()
            let summary = try JSONValue.parse(Array(try #require(result.lines.last).utf8))
            let taken = ["replies", "duplicates", "stale", "rateLimited", "invalid"].reduce(0) { $0 + (summary[$1]?.integerValue ?? 0) }
            #expect(taken >= count * 99 / 100, "\(summary.text)")
            #expect((summary["routers"]?.integerValue ?? .max) <= 4_096, "\(summary.text)")
            #expect((Int(peak) ?? .max) <= Self.mostMemory, "\(peak) KiB; \(summary.text)")
        }
    }
}
