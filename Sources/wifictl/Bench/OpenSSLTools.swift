import Glibc
import SocketCore

/// What the `openssl` command measures of itself, in the same run: handshakes a second by `s_time` against `s_server`, with the same
/// certificates, and the primitives that a handshake is made of by `speed`. Beside our figures for orientation; what ours are measured
/// against is ``TLSReference``.
struct OpenSSLTools {
    /// Each of its measurements lasts that long; it takes no fractions.
    private static let seconds = 1
    /// Arguments: a folder, our certificate and key, the routers' root, a router's certificate and key, the controllers' root, seconds.
    private static let script = """
        cd "$1" || exit 2
        openssl s_server -accept 127.0.0.1:0 -cert "$5" -key "$6" -Verify 1 -CAfile "$7" -www -tls1_3 >server 2>&1 </dev/null &
        server=$!
        tries=0
        until grep -q '^ACCEPT' server 2>/dev/null || [ $tries -ge 100 ]; do sleep 0.05; tries=$((tries + 1)); done
        port=$(sed -n 's/^ACCEPT 127.0.0.1://p' server)
        for kind in new reuse; do
            openssl s_time -connect "127.0.0.1:$port" -tls1_3 "-$kind" -time "$8" -cert "$2" -key "$3" -CAfile "$4" 2>/dev/null |
                sed -n "s/^.*; \\([0-9.]*\\) connections\\/user sec.*/$kind \\1/p" >>result
        done
        kill $server
        for what in ecdsap256 ecdhx25519; do openssl speed -mr -seconds "$8" $what 2>/dev/null | tr ':' ' ' >>result; done
        openssl speed -mr -seconds "$8" -bytes 16384 -evp aes-128-gcm 2>/dev/null | tr ':' ' ' >>result
        """

    /// Handshakes a second of the client's CPU time, by `s_time`; nil where it said nothing.
    private(set) var full: Double?
    private(set) var resumed: Double?
    /// Operations a second.
    private(set) var signs: Double?
    private(set) var verifies: Double?
    private(set) var exchanges: Double?
    /// AES-128-GCM in blocks of 16 KiB, in bytes a second.
    private(set) var sealed: Double?

    /// Runs them all, some seconds long.
    init(client: CertificateAuthority.Issued, server: CertificateAuthority.Issued, _ company: CertificateAuthority) {
        let folder = company.directory
        let words = [
            folder, client.certificateFile, client.keyFile, company.companyRootFile, server.certificateFile, server.keyFile,
            company.operatorRootFile, "\(OpenSSLTools.seconds)",
        ]
        guard ChildRun.run(["sh", "-c", OpenSSLTools.script, "sh"] + words) == .ended(status: 0) else { return }
        for line in OpenSSLTools.lines(of: folder + "/result") {
            let fields = line.split(separator: " ").map(String.init)
            let number = { (index: Int) in fields.indices.contains(index) ? Double(fields[index]) : nil }
            switch fields.first {
            case "new": full = number(1)
            case "reuse": resumed = number(1)
            case "+F4": (signs, verifies) = (number(3), number(4))
            case "+F5": exchanges = number(3)
            case "+F": sealed = number(3)
            default: break
            }
        }
    }

    /// The figures that there are.
    var figures: [Benchmark.Figure] {
        func figure(_ name: String, _ what: JSONValue.Member, _ value: Double?, _ unit: String) -> Benchmark.Figure? {
            value.map { Benchmark.Figure(name: name, parameters: [what], value: $0, unit: unit, samples: [$0]) }
        }
        return [
            figure("openssl s_time", .init("handshake", "full"), full, "handshakes/s of client CPU"),
            figure("openssl s_time", .init("handshake", "resumed"), resumed, "handshakes/s of client CPU"),
            figure("openssl speed", .init("P-256", "sign"), signs, "1/s"),
            figure("openssl speed", .init("P-256", "verify"), verifies, "1/s"),
            figure("openssl speed", .init("X25519", "derive"), exchanges, "1/s"),
            figure("openssl speed", .init("handshake", "by its primitives"), floor, "handshakes/s"),
            figure("openssl speed", .init("AES-128-GCM", .whole(16_384)), sealed.map { $0 / 1_000_000 }, "MB/s"),
        ].compactMap { $0 }
    }

    /// Both sides of a mutual handshake sign once, verify a signature and a certificate, and make and use a key: no implementation does more
    /// of them with these primitives.
    private var floor: Double? {
        guard let signs, let verifies, let exchanges else { return nil }
        return 1 / (2 / signs + 4 / verifies + 4 / exchanges)
    }

    private static func lines(of path: String) -> [String] {
        guard let file = fopen(path, "r") else { return [] }
        defer { fclose(file) }
        var lines: [String] = []
        var line = [CChar](repeating: 0, count: 512)
        while fgets(&line, Int32(line.count), file) != nil {
            lines.append(String(decoding: line.prefix { $0 != 0 && $0 != 10 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }
        return lines
    }
}
