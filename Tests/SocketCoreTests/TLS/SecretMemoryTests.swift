import Foundation
import Glibc
import TestSupport
import Testing

/// Keys and secrets leave no trace in a process that is done with them.
@Suite("Secrets in memory", .timeLimit(.minutes(10)))
struct SecretMemoryTests {
    /// Runs of 24 bytes that only the private part of a key has: a P-256 number, or of an RSA key its private exponent and primes.
    private func needles(in file: String) throws -> [[UInt8]] {
        let text = try String(contentsOfFile: file, encoding: .utf8)
        let lines = text.split(separator: "\n").filter { !$0.hasPrefix("-----") }
        let der = Array(try #require(Data(base64Encoded: lines.joined())))
        var secret: [ArraySlice<UInt8>] = []
        if der.count < 200 {
            let mark = try #require(der.indices.dropLast(34).first { der[$0] == 0x04 && der[$0 + 1] == 0x20 })
            secret = [der[(mark + 2)..<(mark + 34)]]
        } else {
            // Behind the modulus; the last sixth, primes' inverses, is as secret as the rest.
            secret = stride(from: der.count * 5 / 12, to: der.count - 32, by: 150).map { der[$0..<($0 + 32)] }
        }
        let plain = secret.map { Array($0.prefix(24)) }
        // As the file has it, as numbers lie in memory, and as the file's text.
        let text64 = der.count < 200 ? lines[0...0] : lines[(lines.count * 5 / 12 + 1)...].dropLast()
        return plain + plain.map { $0.reversed() } + text64.map { Array($0.utf8.suffix(24)) }
    }

    /// How often each of the needles is found in a process's writable memory.
    private func finds(_ needles: [[UInt8]], in process: Int32) throws -> [Int] {
        let maps = try String(contentsOfFile: "/proc/\(process)/maps", encoding: .utf8)
        let memory = open("/proc/\(process)/mem", O_RDONLY)
        try #require(memory >= 0, "the child's memory can't be read: \(String(cString: strerror(errno)))")
        defer { close(memory) }
        var counts = needles.map { _ in 0 }
        for line in maps.split(separator: "\n") {
            let words = line.split(separator: " ")
            let bounds = words[0].split(separator: "-").compactMap { Int($0, radix: 16) }
            // What is larger is a sanitizer's book-keeping.
            guard words[1].hasPrefix("rw"), bounds.count == 2, bounds[1] - bounds[0] < 1 << 30 else { continue }
            var place = bounds[0]
            var buffer = [UInt8](repeating: 0, count: 1 << 20)
            while place < bounds[1] {
                let wanted = min(buffer.count, bounds[1] - place)
                let got = pread(memory, &buffer, wanted, off_t(place))
                guard got > 0 else { break }
                for (index, needle) in needles.enumerated() { counts[index] += buffer[..<got].count(of: needle) }
                // What lies across two pieces is looked at in both.
                place += got > 64 && place + got < bounds[1] ? got - 64 : got
            }
        }
        return counts
    }

    @Test(arguments: ["P-256", "RSA"])
    func `keys and traffic secrets are nowhere in the memory once their connections and contexts are closed`(kind: String) async throws {
        let folder = try TemporaryDirectory()
        let (certificate, key) = (folder.file("own.pem"), folder.file("own.key"))
        let make = kind == "RSA" ? ["rsa:2048"] : ["ec", "-pkeyopt", "ec_paramgen_curve:P-256"]
        _ = try await runCommand(
            ["openssl", "req", "-x509", "-noenc", "-subj", "/CN=x", "-days", "2", "-keyout", key, "-out", certificate, "-newkey"] + make,
            mustSucceed: true)
        let keys = try needles(in: key)
        let child = try ChildProcess([BuiltTool.beside("secret-holder"), certificate, key])
        var (secrets, names): ([[UInt8]], [String]) = ([], [])
        while case let line = try await child.line("an answer"), line != "open" {
            let words = line.split(separator: " ")
            names.append(String(try #require(words.first)))
            let digits = Array(try #require(words.last))
            try #require(digits.count >= 48, "\(line)")
            secrets.append(try (0..<24).map { try #require(UInt8(String(digits[(2 * $0)..<(2 * $0 + 2)]), radix: 16)) })
        }
        // Of two connections.
        #expect(names.count { $0 == "CLIENT_TRAFFIC_SECRET_0" } == 2 && names.contains("EXPORTER_SECRET"), "\(names)")
        let inUse = try finds(keys + secrets, in: child.id)
        #expect(inUse.prefix(keys.count).contains { $0 > 0 }, "the key in use must be found, else this test finds nothing ever")
        #expect(zip(names, inUse.dropFirst(keys.count)).contains { $0 == "SERVER_TRAFFIC_SECRET_0" && $1 > 0 })
        child.write(Array("on\n".utf8))
        #expect(try await child.line("an answer") == "closed")
        let left = try finds(keys + secrets, in: child.id)
        #expect(left.allSatisfy { $0 == 0 }, "\(left), of the connections' secrets \(names)")
    }
}

extension ArraySlice<UInt8> {
    /// How often `needle` stands in it.
    fileprivate func count(of needle: [UInt8]) -> Int {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, bytes.count >= needle.count else { return 0 }
            let end = base + (bytes.count - needle.count + 1)
            var (found, at) = (0, base)
            while at < end, let next = memchr(at, Int32(needle[0]), end - at) {
                if memcmp(next, needle, needle.count) == 0 { found += 1 }
                at = UnsafeRawPointer(next) + 1
            }
            return found
        }
    }
}
