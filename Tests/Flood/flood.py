#!/usr/bin/env python3
"""Floods `wifictl discover --watch` on loopback with forged replies, and says what it held: flood.py WIFICTL COUNT

Replies come from 200 addresses, each a router of its own; every fourth with a nonce that nobody asked with. The first 20,000 have long
names and eight radios, the rest, which come too late for a place, only what is required. Waits while the kernel holds more than the tool
has taken, so that all are really handled. Exit status 1 when more than the bounds was kept, or datagrams are unaccounted for.
"""
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time

MOST_ROUTERS = 4096
# A scan of nothing takes some 20 MiB; the largest replies that a table can be full of some 10 MiB more, and the directory's file its text.
MOST_KIBIBYTES = 128 * 1024
RICH = 20_000

tool, total = sys.argv[1], int(sys.argv[2])
generator = random.Random(19510)
sources = []
for number in range(200):
    source = socket.socket(type=socket.SOCK_DGRAM)
    source.bind((f"127.1.0.{number + 1}", 0))
    sources.append(source)
asked = socket.socket(type=socket.SOCK_DGRAM)
asked.bind(("127.0.0.1", 0))


def waiting():
    """Bytes that the tool's socket holds."""
    with open("/proc/net/udp") as table:
        rows = [row.split() for row in table if row.split()[1].endswith(line)]
    return max([int(row[4].split(":")[1], 16) for row in rows] or [0])


def newest(known):
    """msgId and nonce of the newest probe."""
    try:
        while True:
            data = asked.recvfrom(2000)[0]
            known = data[:4], data[data.index(b'"nonce":"') + 9:][:16]
    except BlockingIOError:
        return known


def reply(number, nonce):
    mac = b"02:%02x:5e:%02x:%02x:%02x" % (number >> 24 & 255, number >> 16 & 255, number >> 8 & 255, number & 255)
    token = nonce if number % 4 else b"%016x" % generator.getrandbits(64)
    body = b'{"reply":{"nonce":"%s","mac":"%s","tcp":1,"versions":[1]' % (token, mac)
    if number < RICH:
        radio = b'{"bssid":"06:%02x:' + mac[6:] + b'","ssid":"' + b"s" * 32 + b'","band":"5"}'
        radios = b",".join(radio % index for index in range(8))
        body += b',"name":"%s","vendor":"%s","model":"%s","boot":"%016x","radios":[%s]' % (b"n" * 64, b"v" * 64, b"m" * 64, number, radios)
    return body + b"}}"


with tempfile.TemporaryDirectory() as home:
    words = ["discover", "--watch", "--json", "--interface", "lo", "--to", "127.0.0.1:%d" % asked.getsockname()[1], "--bssid", "none"]
    output = tempfile.TemporaryFile()
    scan = subprocess.Popen([tool] + words + ["--home", home], stdout=output)
    data, place = asked.recvfrom(2000)
    line = ":%04X" % place[1]
    asked.setblocking(False)
    probe = newest((data[:4], data[data.index(b'"nonce":"') + 9:][:16]))
    begun = time.monotonic()
    for number in range(total):
        if number % 100 == 0:
            while waiting() > 100_000:
                pass
            probe = newest(probe)
        body = reply(number, probe[1])
        sources[number % 200].sendto(probe[0] + struct.pack(">HI", 1, len(body)) + body, place)
    while waiting() > 0:
        pass
    taken = time.monotonic() - begun
    with open(f"/proc/{scan.pid}/status") as status:
        peak = next(int(row.split()[1]) for row in status if row.startswith("VmHWM:"))
    scan.send_signal(signal.SIGINT)
    scan.wait()
    output.seek(0)
    summary = json.loads(output.read().splitlines()[-1])

handled = sum(summary[key] for key in ("replies", "duplicates", "stale", "rateLimited", "invalid"))
print(json.dumps({"sent": total, "handled": handled, "routers": summary["routers"], "peakKiB": peak, "seconds": round(taken, 1)}))
sys.exit(0 if summary["routers"] <= MOST_ROUTERS and peak <= MOST_KIBIBYTES and handled >= total * 99 // 100 else 1)
