import COpenSSL
import Foundation
import TestSupport
import Testing

@testable import SocketCore

/// "Unknown error" is a bug: every code in the installed headers has a name and a sentence.
struct NamedErrorTests {
    /// The constants of a header: name and number.
    private func codes(_ header: String, _ prefix: String) async throws -> [(name: String, number: Int32)] {
        let folder = try await runCommand(["pkg-config", "--variable=includedir", "openssl"], mustSucceed: true).text
        let path = folder.trimmingCharacters(in: .whitespacesAndNewlines) + "/openssl/" + header
        let text = try String(contentsOf: URL(fileURLWithPath: path), encoding: .utf8)
        return text.split(separator: "\n").compactMap { line in
            let words = line.replacingOccurrences(of: "#", with: "# ").split(separator: " ")
            guard words.count >= 4, words[1] == "define", words[2].hasPrefix(prefix), let number = Int32(words[3]) else { return nil }
            return (String(words[2]), number)
        }
    }

    @Test func `every verification code of the header has a name of its own`() async throws {
        let codes = try await codes("x509_vfy.h", "X509_V_ERR_")
        try #require(codes.count > 80)
        for (name, number) in codes {
            let finding = ChainFinding(code: number, depth: 0)
            #expect(finding.problem != .newerRule, "\(name) (\(number)) has no name")
            #expect(finding.code == number)
            #expect(!finding.description.lowercased().contains("unknown error"))
        }
        #expect(ChainFinding(code: 12_345, depth: 0).problem == .newerRule)
    }

    @Test func `every TLS reason and alert of the header has a name and a sentence`() async throws {
        let codes = try await codes("sslerr.h", "SSL_R_")
        try #require(codes.count > 250)
        for (name, number) in codes {
            let words = ERR_reason_error_string(UInt(ERR_LIB_SSL) << 23 | UInt(number)).map { String(cString: $0) }
            let error = TLSError.named(
                [LibraryErrors.Entry(library: ERR_LIB_SSL, reason: number, text: words ?? "code \(number)")], phase: .handshake)
            if number >= SSL_AD_REASON_OFFSET {
                let isAlert = if case .alert = error { true } else { error == .versionRefused }
                #expect(isAlert, "\(name) isn't named as an alert: \(error)")
            }
            #expect(!error.description.lowercased().contains("unknown error"), "\(name)")
            #expect(error.description.contains(": ") || error.description.contains("peer"), "\(name): \(error) doesn't say what to do")
        }
    }

    @Test func `every alert number of the header is known`() async throws {
        let codes = try await codes("ssl3.h", "SSL3_AD_") + codes("tls1.h", "TLS1_AD_") + codes("tls1.h", "TLS13_AD_")
        try #require(codes.count > 25)
        for (name, number) in codes { #expect(TLSAlert(rawValue: UInt8(number)) != nil, "\(name)") }
    }

    @Test func `every problem and every alert says something of its own`() {
        #expect(ChainProblem.allCases.allSatisfy { $0.sentence.contains(":") || $0.sentence.contains(",") })
        #expect(Set(ChainProblem.allCases.map(\.sentence)).count == ChainProblem.allCases.count)
        #expect(TLSAlert.allCases.allSatisfy { !$0.sentence.isEmpty && !$0.sentence.hasSuffix(".") })
    }
}
