import SocketCore

/// OpenSSL's own client and server, driven from C: what `wifictl bench tls` is measured against.
final class TLSReference {
    private typealias Text = UnsafePointer<CChar>
    private typealias Prepare = @convention(c) (Text, Text, Text, Text, Text, Text) -> Int32
    private typealias Handshakes = @convention(c) (Int, Int32) -> Int
    private typealias Bulk = @convention(c) (Int) -> Int

    private let library: CLibrary
    private let handshakesFunction: Handshakes
    private let bulkFunction: Bulk

    /// Has it read both sides' files.
    init(
        client: CertificateAuthority.Issued, server: CertificateAuthority.Issued, _ company: CertificateAuthority
    ) throws(CLibrary.Absence) {
        library = try CLibrary("Fixtures/bench/tls.c", libraries: ["ssl", "crypto"])
        handshakesFunction = try library.function("reference_tls_handshakes", Handshakes.self)
        bulkFunction = try library.function("reference_tls_bulk", Bulk.self)
        let prepare = try library.function("reference_tls_prepare", Prepare.self)
        guard
            prepare(
                client.certificateFile, client.keyFile, company.companyRootFile, server.certificateFile, server.keyFile,
                company.operatorRootFile) == 1
        else { throw .refused(compiler: library.compiler, message: "it can't use the certificates") }
    }

    /// That many handshakes, both sides.
    func handshakes(_ count: Int, resumed: Bool) throws -> UInt64 {
        guard handshakesFunction(count, resumed ? 1 : 0) == count else {
            throw TLSBench.Failure(description: "the reference in C didn't finish its handshakes")
        }
        return UInt64(count)
    }

    /// That many records through a connection; gives the bytes.
    func bulk(records: Int) throws -> UInt64 {
        let bytes = bulkFunction(records)
        guard bytes > 0 else { throw TLSBench.Failure(description: "the reference in C sent nothing") }
        return UInt64(bytes)
    }
}
