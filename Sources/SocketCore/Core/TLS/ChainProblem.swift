/// What can be wrong with a chain of certificates, named by what its owner has to do about it.
///
/// OpenSSL knows some hundred codes; several say the same to whoever has to act. ``ChainFinding`` keeps the code itself.
public enum ChainProblem: String, CaseIterable, Sendable {
    /// No certificate of a configured root signed it, directly or through what was sent along.
    case unknownIssuer
    /// It signed itself and isn't configured.
    case selfSigned
    /// It claims an issuer whose key didn't sign it: forged or damaged.
    case badSignature
    /// Its validity begins later.
    case notYetValid
    /// Its validity has ended.
    case expired
    /// Its issuer has revoked it.
    case revoked
    /// A revocation list is wanted and there is none.
    case revocationListMissing
    /// The revocation list is out of date, or not yet in force.
    case revocationListStale
    /// The revocation list can't be used: forged, of another scope, or with rules that aren't understood.
    case revocationListBroken
    /// It isn't meant for what it's used for: a controller's certificate in a router, or the other way round.
    case wrongPurpose
    /// It may sign certificates itself: whoever takes its key out of the device can make others like it.
    case maySign
    /// Somebody signed it who may not sign certificates.
    case issuerMayNotSign
    /// The chain is longer than the issuer, or we, allow.
    case chainTooLong
    /// Its names lie outside of what its issuer may certify.
    case namesNotPermitted
    /// A policy that is asked for isn't granted.
    case policyNotGranted
    /// The certificate breaks the rules for certificates (dates, extensions, names).
    case malformed
    /// It carries a critical extension that isn't understood, so that it may not be used.
    case unknownCriticalExtension
    /// Its key is too short or of a kind that isn't used here.
    case weakKey
    /// It's signed with a method that is no longer safe.
    case weakSignature
    /// Its issuer, or the local trust store, marks it as not to be trusted for this.
    case distrusted
    /// It names another host, mail address or IP address than the one wanted.
    case wrongName
    /// An outside record about it (DANE, certificate transparency, OCSP) is missing or speaks against it.
    case outsideRecord
    /// The judgement itself couldn't be carried out: memory, a wrong call, an unreadable store.
    case notJudged
    /// A rule of a newer OpenSSL than this release knows; the finding's code and text say which.
    case newerRule
}

extension ChainProblem {
    /// Whether the chain ends at none of the configured roots, as opposed to being a company's with something wrong.
    public var meansForeign: Bool {
        switch self {
        case .unknownIssuer, .selfSigned, .badSignature, .issuerMayNotSign: true
        default: false
        }
    }

    /// What is wrong and what to do about it, as one clause without a full stop.
    public var sentence: String {
        switch self {
        case .unknownIssuer:
            "no configured root has issued the certificate: check which root is configured, and that the intermediate certificates are sent "
                + "along"
        case .selfSigned: "the certificate is self-signed: install one that the company has issued"
        case .badSignature: "the certificate isn't signed by the issuer that it names: it's forged or damaged, issue it anew"
        case .notYetValid: "the certificate isn't valid yet: check the clock of this machine, or issue it anew"
        case .expired: "the certificate has expired: issue a new one"
        case .revoked: "the certificate has been revoked: don't trust whoever shows it until its issuer has given them a new one"
        case .revocationListMissing: "no revocation list of the certificate's issuer is configured: add one"
        case .revocationListStale: "the revocation list isn't up to date: fetch the current one"
        case .revocationListBroken: "the revocation list can't be used: it's forged, damaged or of another kind, fetch it anew"
        case .wrongPurpose: "the certificate isn't meant for this side of the connection: routers need serverAuth, controllers clientAuth"
        case .maySign:
            "the certificate may sign others, so that whoever has its key can make as many as they like: issue it anew with CA:FALSE"
        case .issuerMayNotSign: "the certificate is signed by one that isn't allowed to sign others: issue it by a certificate authority"
        case .chainTooLong: "there are more certificates between it and the root than allowed: issue it closer to the root"
        case .namesNotPermitted: "the certificate's names lie outside of what its issuer may certify: correct the names or the issuer"
        case .policyNotGranted: "the certificate doesn't grant a policy that is asked for: issue it anew with the policy"
        case .malformed: "the certificate breaks the rules for certificates: issue it anew"
        case .unknownCriticalExtension: "the certificate has a critical extension that isn't understood here: issue it without"
        case .weakKey: "the certificate's key is too weak or of another kind than P-256, P-384 or RSA from 2048 bits: make a new key"
        case .weakSignature: "the certificate is signed with a method that is no longer safe: issue it anew with SHA-256"
        case .distrusted: "the trust store marks the certificate as not trusted for this: check how the root file was made"
        case .wrongName: "the certificate names somebody else: connect to the right one, or issue it with the right name"
        case .outsideRecord: "an outside record speaks against the certificate or is missing: check DANE, CT or OCSP"
        case .notJudged:
            "the certificate couldn't be judged (out of memory, or a trust store that can't be read): free memory and try again"
        case .newerRule: "the certificate breaks a rule of the installed OpenSSL that this release has no name for: see the detail"
        }
    }
}

/// One thing found wrong with a chain.
public struct ChainFinding: Hashable, Sendable {
    /// What it means.
    public let problem: ChainProblem
    /// Which certificate: 0 for the peer's own, 1 for its issuer, and so on.
    public let depth: Int
    /// OpenSSL's `X509_V_ERR_…` number; 0 when the finding is our own.
    public let code: Int32
    /// OpenSSL's words for the code; empty when the finding is our own.
    public let text: String

    /// A finding.
    public init(_ problem: ChainProblem, depth: Int, code: Int32 = 0, text: String = "") {
        self.problem = problem
        self.depth = depth
        self.code = code
        self.text = text
    }
}

extension ChainFinding: CustomStringConvertible {
    /// The sentence, with OpenSSL's words behind it.
    public var description: String {
        let place = depth == 0 ? "" : " (certificate \(depth) above the peer's)"
        return problem.sentence + place + (text.isEmpty ? "" : " [\(text)]")
    }
}
