/// Python programs that play attackers on the network: they hear every probe, as everybody on a LAN does.
enum SpooferScripts {
    /// Forges and replays replies. Arguments: the UDP port, the genuine router's MAC, the BSSID of the victim's access point, a TCP port of the
    /// spoofer's own, how many fake replies to flood with (at the first probe that it hears), how to ask the genuine router for a reply to
    /// replay (`replay`, else anything), and from how many addresses to flood.
    ///
    /// Forged replies leave from the genuine router's own address (127.0.0.1) and from another (127.0.0.66), before anybody else answers: one
    /// with another TCP port, one without TLS, one whose boot differs. Half of the flood has the genuine MAC, half a MAC of its
    /// own; from several addresses it's a quarter and the rest, of which one in six says that it has TLS and so is asked for proof. A negative
    /// number floods from the genuine router's address alone, each reply with another port.
    static let forger = """
        import json, random, socket, struct, sys, time
        port, genuine, bssid, tcp, flood, replays = int(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6]
        hosts = int(sys.argv[7])
        random.seed(7)
        def frame(msg_id, body):
            text = json.dumps(body).encode()
            return msg_id + struct.pack(">HI", 1, len(text)) + text
        def sender(address):
            made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            made.bind((address, 0))
            return made
        def reply(nonce, mac, tcp, tls, boot):
            return {"reply": {"nonce": nonce, "mac": mac, "name": "Forged", "tcp": tcp, "tls": tls, "versions": [1], "boot": boot,
                "radios": [{"bssid": bssid, "ssid": "Home", "band": "5"}]}}
        same, other = sender("127.0.0.1"), sender("127.0.0.66")
        crowd = [other] + [sender(f"127.0.1.{1 + host}") for host in range(hosts - 1)]
        old = []
        if replays == "replay":
            same.settimeout(0.2)
            question = frame(struct.pack(">I", 99), {"probe": {"nonce": "00000000000000ee", "maxWait": 0, "pad": "." * 400}})
            while not old:
                same.sendto(question, ("127.0.0.1", port))
                try:
                    old.append(same.recv(2000))
                except TimeoutError:
                    pass
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("239.255.19.51", port))
        group = socket.inet_aton("239.255.19.51") + socket.inet_aton("127.0.0.1")
        listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
        print("ready", flush=True)
        while True:
            datagram, source = listener.recvfrom(2000)
            probe = json.loads(datagram[10:]).get("probe")
            if probe is None:
                continue
            msg_id, nonce = datagram[:4], probe["nonce"]
            for out in (same, other):
                for stale in old:
                    out.sendto(stale, source)
                    out.sendto(msg_id + stale[4:], source)
                out.sendto(frame(msg_id, reply(nonce, genuine, tcp, True, "00000000000000aa")), source)
                out.sendto(frame(msg_id, reply(nonce, genuine, tcp, False, "00000000000000bb")), source)
            count, flood = flood, 0
            for number in range(-count):
                same.sendto(frame(msg_id, reply(nonce, genuine, 20000 + number % 40000, True, "00000000000000dd")), source)
            for number in range(count):
                if number % 2 if hosts == 1 else number % 4 == 0:
                    body = reply(nonce, genuine, random.randint(1, 1000), True, "%016x" % random.getrandbits(64))
                else:
                    body = reply(nonce, "02:66:%02x:%02x:%02x:%02x" % tuple(random.randbytes(4)), 9, hosts == 1 or number % 8 == 1,
                        "00000000000000cc")
                crowd[number // 2 % hosts].sendto(frame(msg_id, body), source)
                if number % 50 == 49:
                    time.sleep(0.005)
            if count:
                print("flooded", flush=True)
        """

    /// Forwards the bytes of each connection to another port and back. Arguments: the genuine router's TCP port, `pass` or `change` (flips a bit
    /// in all that a client says from its third piece on), and a file for everything that it saw. Prints its port.
    static let relay = """
        import socket, sys, threading
        target, mode, seen = int(sys.argv[1]), sys.argv[2], open(sys.argv[3], "ab", buffering=0)
        listener = socket.create_server(("127.0.0.1", 0))
        print(listener.getsockname()[1], flush=True)
        def carry(source, sink, changes):
            pieces = 0
            try:
                while data := source.recv(65536):
                    seen.write(data)
                    pieces += 1
                    if changes and pieces >= 3:
                        data = data[:-1] + bytes([data[-1] ^ 1])
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass
        while True:
            client, _ = listener.accept()
            server = socket.create_connection(("127.0.0.1", target))
            threading.Thread(target=carry, args=(client, server, mode == "change"), daemon=True).start()
            threading.Thread(target=carry, args=(server, client, False), daemon=True).start()
        """

    /// Keeps as many connections open as it gets, from many addresses of this machine, and never says a word. Arguments: the TCP port. Prints a
    /// line once every address has had its turn.
    static let crowd = """
        import socket, sys, time
        port, kept = int(sys.argv[1]), []
        while True:
            for host in range(2, 42):
                for _ in range(16):
                    made = socket.socket()
                    made.settimeout(5)
                    try:
                        made.bind((f"127.0.0.{host}", 0))
                        made.connect(("127.0.0.1", port))
                        kept.append(made)
                    except OSError:
                        made.close()
            print("crowded", flush=True)
            for old in kept[:-640]:
                old.close()
            kept = kept[-640:]
            time.sleep(0.2)
        """
}
