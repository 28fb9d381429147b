import Glibc
import SocketCore

extension Benchmark {
    static let tls = Benchmark(
        name: "tls", summary: "TLS in memory, both sides: handshakes full and resumed, bulk, memory of an idle session"
    ) {
        try TLSBench(run: $0).measure()
    }
}

/// The figures of `wifictl bench tls`: a controller's and a router's engine that talk through memory, with certificates on both sides.
struct TLSBench {
    /// The two engines didn't come to terms, so there's nothing to measure.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// Enough that the memory of one shows through the allocator's own.
    private static let idleSessions = 1_000
    private static let record = 16_384

    private let run: Benchmark.Run
    private let client: TLSContext
    private let server: TLSContext
    /// Nil where there's no C compiler.
    private let reference: TLSReference?
    private let tools: OpenSSLTools

    init(run: Benchmark.Run) throws {
        self.run = run
        var reference: TLSReference?
        (client, server, tools) = try TLSBench.withCompany { company in
            let now = WallTime.systemNow()
            let device = try company.issueDevice(address: 0x0200_5E00_5301, radios: [], days: 1, now: now)
            let controller = try company.issueOperator(id: "bench", days: 1, now: now)
            do throws(CLibrary.Absence) {
                reference = try TLSReference(client: controller, server: device, company)
            } catch { run.remark("no figures of the reference in C: \(error)") }
            return (
                try TLSBench.context(.client, controller, root: company.companyRootFile),
                try TLSBench.context(.server(requiresPeer: true), device, root: company.operatorRootFile),
                OpenSSLTools(client: controller, server: device, company)
            )
        }
        self.reference = reference
    }

    /// A company in a folder that is gone afterwards.
    private static func withCompany<Result>(_ body: (CertificateAuthority) throws -> Result) throws -> Result {
        let folder = try ScratchFolder("tls")
        return try body(try CertificateAuthority.create(in: folder.path, name: "Bench", enterprise: 32_473, now: .systemNow()))
    }

    private static func context(
        _ role: TLSConfiguration.Role, _ issued: CertificateAuthority.Issued, root: String
    ) throws(TLSError) -> TLSContext {
        try TLSContext(
            TLSConfiguration(
                role: role, identity: TLSIdentity(certificateFile: issued.certificateFile, keyFile: issued.keyFile),
                roots: [TLSConfiguration.NamedBytes(file: root)],
                judge: { evidence in evidence.findings.first.map { .certificateRefused($0) } }))
    }

    func measure() throws {
        let twin = reference
        try report(
            [.init("handshake", "full")], unit: "handshakes/s", scale: 1_000_000_000,
            { rounds in
                for _ in 0..<rounds {
                    try Task.checkCancellation()
                    _ = try connect()
                }
                return UInt64(rounds)
            }, twin.map { twin in { try twin.handshakes($0, resumed: false) } })
        var session = try connect().client.session
        try report(
            [.init("handshake", "resumed")], unit: "handshakes/s", scale: 1_000_000_000,
            { rounds in
                for _ in 0..<rounds {
                    let pair = try connect(resuming: session)
                    guard pair.client.isResumed else { throw Failure(description: "a session wasn't resumed") }
                    session = pair.client.session
                }
                return UInt64(rounds)
            }, twin.map { twin in { try twin.handshakes($0, resumed: true) } })
        let pair = try connect()
        let block = [UInt8](repeating: 0x5A, count: TLSBench.record)
        try report(
            [.init("record", .whole(TLSBench.record))], unit: "MB/s", scale: 1_000,
            { rounds in
                var arrived = 0
                for _ in 0..<rounds {
                    try pair.client.write(block.span.bytes)
                    try carry(from: pair.client, to: pair.server) { arrived += $0.byteCount }
                }
                return UInt64(arrived)
            }, twin.map { twin in { try twin.bulk(records: $0) } })
        try measureMemory()
        if tools.figures.isEmpty { run.remark("no figures of openssl s_time and speed: the openssl command doesn't run here") }
        for figure in tools.figures { try run.report(figure) }
    }

    /// One figure: units of work a time, and how many times the reference's time they take.
    private func report(
        _ parameters: [JSONValue.Member], unit: String, scale: Double, _ work: @escaping (Int) throws -> UInt64,
        _ twin: ((Int) throws -> UInt64)?
    ) throws {
        let series = try Sampling.interleaved(for: run.nanosecondsPerFigure, [work] + (twin.map { [$0] } ?? []))
        try run.report(
            Benchmark.Figure(
                name: "tls", parameters: parameters, value: scale / series[0].median, unit: unit,
                samples: series[0].samples.map { scale / $0 }, ratio: series.count > 1 ? series[0].median / series[1].median : nil))
    }

    /// What the process grows by, for one side of an idle session.
    private func measureMemory() throws {
        var pairs: [(client: TLSEngine, server: TLSEngine)] = []
        pairs.reserveCapacity(TLSBench.idleSessions)
        let before = try ProcessMemory.residentBytes()
        for _ in 0..<TLSBench.idleSessions {
            try Task.checkCancellation()
            pairs.append(try connect())
        }
        let perSide = Double(try ProcessMemory.residentBytes() - before) / Double(2 * pairs.count)
        try run.report(
            Benchmark.Figure(
                name: "tls", parameters: [.init("idle", .whole(pairs.count))], value: perSide, unit: "bytes/session", samples: [perSide]))
    }

    private func connect(resuming session: TLSSession? = nil) throws -> (client: TLSEngine, server: TLSEngine) {
        let pair = (client: try TLSEngine(client, resuming: session), server: try TLSEngine(server))
        try pair.client.start()
        while pair.client.pendingCount + pair.server.pendingCount > 0 {
            try carry(from: pair.client, to: pair.server)
            try carry(from: pair.server, to: pair.client)
        }
        guard pair.client.state == .open, pair.server.state == .open else { throw Failure(description: "a handshake wasn't finished") }
        return pair
    }

    private func carry(from sender: TLSEngine, to receiver: TLSEngine, _ deliver: (RawSpan) -> Void = { _ in }) throws {
        var failure: TLSError?
        sender.drain { span in
            do throws(TLSError) { try receiver.feed(span, deliver: deliver) } catch { failure = error }
            return span.byteCount
        }
        if let failure { throw failure }
    }
}
