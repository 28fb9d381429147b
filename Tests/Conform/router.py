"""A router written from docs/protocol.md alone, whole and small, that can be made to break one rule: for the tests of `wifictl conform`.

    router.py [FAULT]      prints its TCP port and its UDP port, then serves until it's killed

It keeps no time (no heartbeats, no resending, no 30 s): rules about time are tested elsewhere.
"""
import base64, json, random, secrets, socket, struct, sys, threading, time

FAULT = sys.argv[1] if len(sys.argv) > 1 else "none"
LIMIT = 1000 if FAULT == "small-limit" else 1 << 20
MAC, BSSID = "02:00:5e:00:53:01", "02:00:5e:00:53:11"
BOOT = secrets.token_hex(8)
LOG = bytes((i * 7 + 13) % 256 for i in range(5120))
properties = {"wifi.ssid": "Home", "led": True}
sessions, lock = {}, threading.RLock()
connections = threading.Semaphore(8 if FAULT == "few-connections" else 1000)


class Gone(Exception):
    """The connection is over."""


def frame(msg_id, body=b"", version=2 if FAULT == "frames-of-version-2" else 1):
    return struct.pack(">IHI", msg_id, version, len(body)) + body


def as_json(value):
    return json.dumps(value, separators=(",", ":")).encode()


class Session:
    """What outlives a connection: remembered ids, own messages under way, and the connection that stands."""

    def __init__(self):
        self.seen, self.top, self.last = [], 0, 99 if FAULT == "ids-from-100" else 0
        self.unsettled, self.waiting, self.link = {}, [], None

    def tell(self, value):
        self.last += 1
        self.waiting.append((self.last, as_json(value)))
        self.pump()

    def pump(self):
        window = 10_000 if FAULT == "no-window" else 32
        while self.waiting and len(self.unsettled) < window:
            msg_id, body = self.waiting.pop(0)
            self.unsettled[msg_id] = body
            self.link.send(frame(msg_id, body))

    def settle(self, msg_id):
        self.unsettled.pop(msg_id, None)
        self.pump()

    def take(self, msg_id, body):
        """A message: delivered once, receipted each time."""
        fresh = msg_id == 0 or msg_id not in self.seen or FAULT == "delivers-twice"
        if msg_id and msg_id not in self.seen:
            self.seen = (self.seen + [msg_id])[-(64 if FAULT == "short-memory" else 1024):]
            while self.top + 1 in self.seen:
                self.top += 1
        if fresh:
            self.deliver(msg_id, body)
        if FAULT == "slow-receipts":
            time.sleep(0.4)
        lost = FAULT == "loses-third-receipt" and msg_id == 3 or FAULT == "silent-duplicates" and not fresh
        if (msg_id or FAULT == "receipts-everything") and not lost:
            self.link.send(frame(msg_id or 1 << 31))

    def deliver(self, msg_id, body):
        try:
            request = json.loads(body)
            op = request["op"]
        except (ValueError, KeyError, TypeError):
            if FAULT == "closes-on-opaque" and body[:1] == b"[":
                raise Gone
            return
        names = request.get("names", [])
        if op == "capabilities":
            value = {"ops": ["capabilities", "get", "set", "subscribe", "read"], "streams": [{"name": "log", "size": len(LOG)}],
                     "properties": [{"name": name, "access": ["read", "write", "notify"]} for name in properties]}
            if FAULT == "no-properties":
                del value["properties"]
        elif op == "get":
            value = {} if FAULT == "get-empty" else {name: properties[name] for name in names}
        elif op == "subscribe":
            value = {} if FAULT == "subscribe-empty" else {name: properties[name] for name in names}
        elif op == "set":
            properties.update({name: None for name in request["values"]} if FAULT == "sets-null" else request["values"])
            value = request["values"]
        elif op == "read":
            start = 0 if FAULT == "reads-from-start" else request["offset"]
            piece = LOG[start:start + request["count"]]
            value = {"offset": request["offset"], "total": len(LOG), "data": base64.b64encode(piece).decode()}
        else:
            code = "oops" if FAULT == "other-error" else "unknownOp"
            return self.tell({"re": msg_id, "ok": False, "error": {"code": code, "text": f"no such operation: {op}"}})
        self.tell({"re": msg_id, "ok": True, "value": value})


class Link:
    """One connection."""

    def __init__(self, connection):
        self.connection, self.session, self.held, self.version = connection, None, b"", 1
        connection.settimeout(120 if FAULT == "few-connections" else 5)

    def send(self, data):
        try:
            self.connection.sendall(data)
        except OSError:
            pass

    def close(self):
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def run(self):
        try:
            while True:
                data = self.connection.recv(65536)
                if not data:
                    if FAULT == "delivers-cut-off" and len(self.held) > 10 and self.session:
                        self.session.take(struct.unpack(">I", self.held[:4])[0], self.held[10:])
                    if FAULT == "ignores-end":
                        time.sleep(10)
                    return
                self.held += data
                while (item := self.cut()) is not None:
                    with lock:
                        self.handle(*item)
                    if FAULT == "one-frame-a-read":
                        self.held = b""
        except (Gone, OSError):
            pass
        except (ValueError, KeyError, TypeError, AttributeError):
            pass
        finally:
            self.connection.close()

    def cut(self):
        while len(self.held) >= 10:
            msg_id, version, length = struct.unpack(">IHI", self.held[:10])
            if version != 1 and FAULT == "skips-bad-version":
                self.held = self.held[10 + length:]
                continue
            if version != 1 and FAULT != "any-version":
                raise Gone
            if length > LIMIT and FAULT != "waits-for-body":
                raise Gone
            if len(self.held) < 10 + length:
                return None
            body, self.held = self.held[10:10 + length], self.held[10 + length:]
            return msg_id, body
        return None

    def handle(self, msg_id, body):
        if not self.session:
            return self.open(msg_id, body)
        if self.session.link is not self and FAULT != "keeps-both":
            raise Gone
        if body:
            self.session.take(msg_id, body)
        elif msg_id:
            if msg_id not in self.session.unsettled and FAULT == "closes-on-unknown-receipt":
                raise Gone
            self.session.settle(msg_id)

    def open(self, msg_id, body):
        if FAULT == "any-first" and not body.startswith(b'{"hello'):
            return self.send(frame(msg_id))
        if msg_id != 0 and FAULT != "hello-with-id" or len(body) > 4096 and FAULT != "long-hello":
            raise Gone
        hello = json.loads(body)["hello"]
        name, versions = hello["session"], hello["versions"]
        if FAULT == "lenient-keys":
            hello = {"received": 0, "resume": False, **hello}
        received, resume = hello["received"], hello["resume"]
        if not isinstance(received, int) or not isinstance(resume, bool) or len(bytes.fromhex(name)) != 16:
            raise Gone
        if FAULT == "strict-keys" and set(hello) - {"session", "versions", "received", "resume", "client"}:
            raise Gone
        if 1 not in versions:
            if FAULT != "no-error-object":
                self.send(frame(0, as_json({"error": {"code": "version", "versions": [1]}})))
            raise Gone
        known = name in sessions and FAULT != "never-resumes"
        self.session = sessions.setdefault(name, Session()) if known or name not in sessions else Session()
        sessions[name] = self.session
        session = self.session
        if session.link and FAULT != "keeps-both":
            session.link.close()
        session.link = self
        if FAULT != "ignores-received":
            for settled in [i for i in session.unsettled if i <= received]:
                del session.unsettled[settled]
        answer = {"session": name, "boot": BOOT, "version": 1, "received": session.top + (FAULT == "counts-wrong"),
                  "resumed": known or FAULT == "always-resumed", "mac": MAC, "name": "Small"}
        if FAULT == "other-mac":
            answer["mac"] = "02:00:5e:00:53:02"
        if FAULT == "no-boot":
            del answer["boot"]
        if FAULT == "chooses-highest":
            answer["version"] = max(versions)
        self.send(frame(0, as_json({"hello": answer}), version=1))
        if FAULT == "new-ids-on-resend" and session.unsettled:
            session.unsettled = {i + 100: body for i, body in session.unsettled.items()}
        if FAULT != "forgets-unsettled":
            for unsettled, body in session.unsettled.items():
                self.send(frame(unsettled, body))
        session.pump()


class Responder:
    """Discovery."""

    def __init__(self, tcp):
        self.tcp, self.times, self.seen = tcp, [], set()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("127.0.0.1", 0))
        self.other = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.other.bind(("127.0.0.1", 0))

    def run(self):
        while True:
            data, source = self.socket.recvfrom(2048)
            try:
                self.answer(data, source)
            except (ValueError, KeyError, TypeError, AttributeError, struct.error):
                if FAULT == "dies-of-garbage":
                    return

    def answer(self, data, source):
        msg_id, version, length = struct.unpack(">IHI", data[:10])
        if FAULT != "lenient-datagrams" and (length != len(data) - 10 or version != 1 or msg_id == 0):
            raise ValueError
        probe = json.loads(data[10:10 + length])["probe"]
        nonce = probe["nonce"]
        if len(bytes.fromhex(nonce)) != 8:
            raise ValueError
        if MAC in probe.get("known", []) and FAULT != "ignores-known":
            return
        if probe.get("mac", MAC) != MAC and FAULT != "ignores-mac":
            return
        if (source, msg_id, nonce) in self.seen and FAULT != "answers-twice":
            return
        self.seen.add((source, msg_id, nonce))
        now = time.monotonic()
        self.times = [at for at in self.times if now - at < 1]
        if len(self.times) >= 10 and FAULT != "no-rate":
            return
        spread = min(max(probe.get("maxWait", 0), 0), 2000) / 1000
        wait = 0 if probe.get("bssid") in (MAC, BSSID) and FAULT != "ignores-bssid" else random.uniform(0, spread)
        wait = {"no-spread": 0, "late": spread + 1 if spread else 0}.get(FAULT, wait)
        self.times.append(now + wait)
        threading.Timer(wait, self.reply, (msg_id, nonce, source, len(data))).start()

    def reply(self, msg_id, nonce, source, size):
        reply = {"nonce": "0" * 16 if FAULT == "wrong-nonce" else nonce, "mac": MAC, "name": "Small", "tcp": self.tcp, "tls": False,
                 "versions": [1], "boot": BOOT, "radios": [{"bssid": BSSID, "ssid": "Home", "band": "5"}]}
        if FAULT == "no-radios":
            del reply["radios"]
        if FAULT == "no-versions":
            del reply["versions"]
        if FAULT == "long-reply":
            reply["name"] = "x" * 1200
        packet = frame(msg_id, as_json({"reply": reply}), version=1)
        if len(packet) > 3 * size and FAULT not in ("amplifies", "long-reply"):
            return
        (self.other if FAULT == "other-port" else self.socket).sendto(packet, source)


def serve(connection):
    with connections:
        Link(connection).run()


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(128)
responder = Responder(listener.getsockname()[1])
threading.Thread(target=responder.run, daemon=True).start()
print(listener.getsockname()[1], responder.socket.getsockname()[1], flush=True)
while True:
    accepted, _ = listener.accept()
    accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    threading.Thread(target=serve, args=(accepted,), daemon=True).start()
