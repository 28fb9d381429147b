import COpenSSL
import Glibc

@testable import SocketCore

// Holds a private key as a controller or a router does, for a test that looks into this process's memory: secret-holder CERTIFICATE KEY.
// Prints its connections' secrets as they come about (a word, the client's random, the secret), says `open` after handshakes, full and
// resumed, while the keys are in use, and `closed` when all is gone; each time it waits for a line of its input. What it does lies in a
// function of its own, so that nothing is kept by accident.

// Standard output is a pipe here, which print fills before it writes.
func say(_ word: String) {
    let line = Array((word + "\n").utf8)
    _ = write(STDOUT_FILENO, line, line.count)
}

func carry(from sender: TLSEngine, to receiver: TLSEngine) throws {
    var failure: TLSError?
    sender.drain { span in
        do throws(TLSError) { try receiver.feed(span) { _ in } } catch { failure = error }
        return span.byteCount
    }
    if let failure { throw failure }
}

func connect(_ client: TLSContext, _ server: TLSContext, resuming session: TLSSession?) throws -> [TLSEngine] {
    let (near, far) = (try TLSEngine(client, resuming: session), try TLSEngine(server))
    try near.start()
    while near.pendingCount + far.pendingCount > 0 {
        try carry(from: near, to: far)
        try carry(from: far, to: near)
    }
    return near.state == .open && far.state == .open ? [near, far] : []
}

func hold(_ certificate: String, _ key: String) throws {
    let identity = try TLSIdentity(certificateFile: certificate, keyFile: key)
    let server = try TLSContext(TLSConfiguration(role: .server(requiresPeer: false), identity: identity) { _ in nil })
    let client = try TLSContext(TLSConfiguration(role: .client) { _ in nil })
    // Straight to the pipe: a copy in a string of ours would be found.
    SSL_CTX_set_keylog_callback(client.handle) { _, line in
        guard let line else { return }
        _ = write(STDOUT_FILENO, line, strlen(line))
        say("")
    }
    let first = try connect(client, server, resuming: nil)
    let second = try connect(client, server, resuming: first.first?.session)
    say(first.isEmpty || second.isEmpty ? "no connection" : "open")
    _ = readLine()
    withExtendedLifetime((first, second)) {}
}

try hold(CommandLine.arguments[1], CommandLine.arguments[2])
say("closed")
_ = readLine()
