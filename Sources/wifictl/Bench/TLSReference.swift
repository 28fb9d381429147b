import Glibc
import SocketCore

/// OpenSSL's own client and server, driven from C: what `wifictl bench tls` is measured against.
final class TLSReference {
    private typealias Text = UnsafePointer<CChar>
    private typealias Prepare = @convention(c) (Text, Text, Text, Text, Text, Text) -> Int32
    private typealias Handshakes = @convention(c) (Int, Int32) -> Int
    private typealias Bulk = @convention(c) (Int) -> Int

    static let sourcePath = "Fixtures/bench/tls.c"

    private let handle: UnsafeMutableRawPointer
    private let handshakesFunction: Handshakes
    private let bulkFunction: Bulk

    /// Compiles and loads the reference, and has it read both sides' files.
    init(
        client: CertificateAuthority.Issued, server: CertificateAuthority.Issued, _ company: CertificateAuthority
    ) throws(CReference.Absence) {
        let folder = try TemporaryFolder()
        let object = folder.path + "/reference.so"
        let source = try CReference.findSource(TLSReference.sourcePath)
        let compiler = try CReference.compile(source, to: object, libraries: ["ssl", "crypto"])
        guard let handle = dlopen(object, RTLD_NOW | RTLD_LOCAL) else {
            throw .refused(compiler: compiler, message: dlerror().map { String(cString: $0) } ?? "the compiled reference can't be loaded")
        }
        guard let prepare = dlsym(handle, "reference_tls_prepare"), let handshakes = dlsym(handle, "reference_tls_handshakes"),
            let bulk = dlsym(handle, "reference_tls_bulk"),
            unsafeBitCast(prepare, to: Prepare.self)(
                client.certificateFile, client.keyFile, company.companyRootFile, server.certificateFile, server.keyFile,
                company.operatorRootFile) == 1
        else {
            dlclose(handle)
            throw .refused(compiler: compiler, message: "\(source) lacks a function, or can't use the certificates")
        }
        self.handle = handle
        handshakesFunction = unsafeBitCast(handshakes, to: Handshakes.self)
        bulkFunction = unsafeBitCast(bulk, to: Bulk.self)
    }

    deinit { dlclose(handle) }

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
