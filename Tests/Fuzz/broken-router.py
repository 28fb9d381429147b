"""A small router that can be broken in one way, for the tests of `wifictl fuzz --target`.

    broken-router.py FAULT

Prints its port. Faults that end it let it come back half a second later, as a watchdog would, except `dies`.
"""
import json, os, secrets, socket, struct, sys, threading, time

FAULT = sys.argv[1]
LIMIT = 1 << 20
state = {"boot": secrets.token_hex(8), "slow": 0.0, "hung": False, "live": set(), "down": 0.0, "messages": 0, "connections": 0}


class Gone(Exception):
    pass


def crash():
    if FAULT == "dies":
        os._exit(9)
    state.update(boot=secrets.token_hex(8), down=time.monotonic() + 0.5, messages=0)
    for connection in list(state["live"]):
        connection.close()
    raise Gone


def take(connection, count):
    data = b""
    while len(data) < count:
        piece = connection.recv(count - len(data))
        if not piece:
            raise Gone
        data += piece
    return data


def frame(msg_id, body=b""):
    return struct.pack(">IHI", msg_id, 1, len(body)) + body


def serve(connection):
    opened = False
    try:
        while True:
            if state["hung"]:
                time.sleep(3600)
            msg_id, version, length = struct.unpack(">IHI", take(connection, 10))
            if version != 1 and FAULT != "takes-any-version":
                raise Gone
            if FAULT == "crash-on-negative" and length >= 0x80000000:
                crash()
            if FAULT == "hang-on-huge" and length == 0xFFFFFFFF:
                state["hung"] = True
            # A leak shows with time only, and plainly: on a busy machine every answer takes some milliseconds more.
            if FAULT == "leak" and length > LIMIT and state["connections"] > 60:
                state["slow"] += 0.03
            if length > LIMIT:
                if FAULT == "skips-oversize":
                    continue
                raise Gone
            body = take(connection, length)
            if FAULT == "crash-on-4096" and length == 4096:
                crash()
            if not opened:
                hello = json.loads(body)["hello"]
                time.sleep(state["slow"])
                answer = {"session": hello["session"], "boot": state["boot"], "version": 1, "received": 0, "resumed": False,
                          "mac": "02:00:5e:00:53:01"}
                connection.sendall(frame(0, json.dumps({"hello": answer}).encode()))
                opened = True
            elif msg_id and body:
                state["messages"] += 1
                if FAULT in ("crash-after-30", "dies") and state["messages"] > 30:
                    crash()
                if FAULT == "no-receipt-for-255" and length == 255:
                    continue
                connection.sendall(frame(msg_id + 1 if FAULT == "wrong-receipt" and length > 1000 else msg_id))
                if FAULT == "closes-after-three" and msg_id % 1000 == 3:
                    raise Gone
    except (Gone, OSError, ValueError, KeyError, TypeError):
        pass
    finally:
        state["live"].discard(connection)
        connection.close()


def listen(port):
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(("127.0.0.1", port))
    listener.listen(64)
    listener.settimeout(0.02)
    return listener


listener = listen(0)
port = listener.getsockname()[1]
print(port, flush=True)
while True:
    if state["down"]:
        listener.close()
        time.sleep(max(0, state["down"] - time.monotonic()))
        state["down"] = 0.0
        listener = listen(port)
    try:
        connection, _ = listener.accept()
    except TimeoutError:
        continue
    connection.settimeout(10)
    state["live"].add(connection)
    state["connections"] += 1
    threading.Thread(target=serve, args=(connection,), daemon=True).start()
