import SocketCore
import TestSupport
import Testing

/// Python programs that play what no router of ours would: each is independent of this project's code.
enum PythonPeer {
    /// Answers probes in the name of many routers. Arguments: the UDP port, then for each reply `mac,tcp,tls,boot`.
    static let responder = """
        import json, socket, struct, sys
        replies = [entry.split(",") for entry in sys.argv[2:]]
        port = int(sys.argv[1])
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("", port))
        group = socket.inet_aton("239.255.19.51") + socket.inet_aton("127.0.0.1")
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        answering = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        answering.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        answering.bind(("127.0.0.1", 0))
        print("ready", flush=True)
        while True:
            datagram, source = listener.recvfrom(2000)
            probe = json.loads(datagram[10:])["probe"]
            for mac, tcp, tls, boot in replies:
                if mac in probe.get("known", []) or probe.get("mac", mac) != mac:
                    continue
                body = json.dumps({"reply": {"nonce": probe["nonce"], "mac": mac, "name": "Router", "tcp": int(tcp),
                    "tls": tls == "tls", "versions": [1], "boot": boot}}).encode()
                answering.sendto(datagram[:4] + struct.pack(">HI", 1, len(body)) + body, source)
        """

    /// TLS servers by Python's ssl module, a thread each. Arguments: for each `mode,chain,key`; prints the ports in order.
    static let servers = """
        import socket, ssl, sys, threading
        def serve(mode, chain, key):
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(chain, key)
            if mode == "old":
                context.maximum_version = ssl.TLSVersion.TLSv1_2
            listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            def run():
                while True:
                    connection, _ = listener.accept()
                    connection.settimeout(60)
                    try:
                        with context.wrap_socket(connection, server_side=True) as secure:
                            while secure.recv(1000):
                                pass
                    except OSError:
                        connection.close()
            threading.Thread(target=run, daemon=True).start()
            return listener.getsockname()[1]
        print(*[serve(*entry.split(",")) for entry in sys.argv[1:]], flush=True)
        threading.Event().wait()
        """

    /// Listeners that don't finish a handshake. Arguments: modes; prints the ports in order.
    ///
    /// frames: this protocol in the clear; garbage; silent: never a byte; stalling: half of a server hello and then nothing; cutting: the
    /// same and then the end; closing: the end at once.
    static let strangers = """
        import socket, struct, sys, threading
        hello = b"\\x16\\x03\\x03\\x00\\x7a\\x02\\x00\\x00\\x76\\x03\\x03" + bytes(range(40))
        speech = {"frames": struct.pack(">IHI", 0, 1, 0), "garbage": bytes((i * 37 + 201) % 256 for i in range(64)), "silent": b"",
            "stalling": hello, "cutting": hello, "closing": b""}
        kept = []
        def serve(mode):
            listener = socket.create_server(("127.0.0.1", 0), backlog=64)
            def run():
                while True:
                    connection, _ = listener.accept()
                    kept.append(connection)
                    connection.recv(4096)
                    try:
                        connection.sendall(speech[mode])
                        if mode in ("cutting", "closing"):
                            connection.close()
                    except OSError:
                        pass
            threading.Thread(target=run, daemon=True).start()
            return listener.getsockname()[1]
        print(*[serve(mode) for mode in sys.argv[1:]], flush=True)
        threading.Event().wait()
        """

    /// One reply in a router's name.
    struct Reply {
        let mac: String
        let tcp: Int
        var tls = true
        var boot = "00000000000000aa"
    }

    /// Answers probes at that UDP port.
    static func respond(on port: Int, _ replies: [Reply]) async throws -> ChildProcess {
        let words = replies.map { "\($0.mac),\($0.tcp),\($0.tls ? "tls" : "plain"),\($0.boot)" }
        let child = try ChildProcess(["python3", "-c", responder, "\(port)"] + words)
        _ = try await child.line("ready", within: .seconds(60))
        return child
    }

    /// Starts a program that prints its ports.
    static func listening(_ program: String, _ arguments: [String]) async throws -> (child: ChildProcess, ports: [Int]) {
        let child = try ChildProcess(["python3", "-c", program] + arguments)
        let ports = try await child.line("ports", within: .seconds(60)).split(separator: " ").compactMap { Int($0) }
        try #require(ports.count == arguments.count)
        return (child, ports)
    }
}
