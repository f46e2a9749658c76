"""The hosts of a network namespace: a DNS server whose answers change, an HTTP server on all addresses, and a proxy.

Usage: `python3 names.py SEED`, in a namespace where all addresses are local. The program prints a line once it listens.
When its standard input ends, it prints the number of connections to each address and the number of connections that
the kernel started, and exits.
"""

import collections
import json
import os
import random
import socket
import struct
import sys
import threading
import time

PUBLIC = ["93.184.215.14", "2606:4700::1111"]
INNER = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "192.168.1.1", "::1", "fd00::1", "::ffff:10.0.0.1", "64:ff9b::a00:1"]
PROXY_PORT = 3128


class Names:
    """The DNS server. The addresses of `turn-N.test` can change with each query. `inner.test` has no public addresses."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.questions = 0

    def addresses(self, name, family):
        is_public = name.startswith("turn-")
        inner = [a for a in INNER if (":" in a) == (family == 28)]
        some = self.random.sample(inner, self.random.choice([0, 1, 1, 2]))
        if is_public and self.random.random() < 0.6:
            some.append(PUBLIC[family == 28])
        self.random.shuffle(some)
        return some or (inner[:1] if family == 1 else [])

    def answer(self, packet):
        self.questions += 1
        labels, at = [], 12
        while packet[at]:
            labels.append(packet[at + 1 : at + 1 + packet[at]].decode())
            at += 1 + packet[at]
        kind = struct.unpack(">H", packet[at + 1 : at + 3])[0]
        found = self.addresses(".".join(labels), kind) if kind in (1, 28) else []
        records = b""
        for address in found:
            data = socket.inet_pton(socket.AF_INET6 if kind == 28 else socket.AF_INET, address)
            records += struct.pack(">HHHIH", 0xC00C, kind, 1, 0, len(data)) + data
        return packet[:2] + struct.pack(">HHHHH", 0x8180, 1, len(found), 0, 0) + packet[12 : at + 5] + records

    def serve(self):
        listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        listener.bind(("127.0.0.1", 53))
        while True:
            packet, sender = listener.recvfrom(4096)
            listener.sendto(self.answer(packet), sender)


class Hosts:
    """Answers requests with "public". A path with `/to/` redirects to the URL that follows in hexadecimal."""

    def __init__(self):
        self.lock = threading.Lock()
        self.opened = collections.Counter()

    def listen(self, port, name=None):
        listener = socket.create_server(("::", port), family=socket.AF_INET6, backlog=4096, dualstack_ipv6=True)
        threading.Thread(target=self.accept, args=(listener, name), daemon=True).start()

    def accept(self, listener, name):
        while True:
            sock, _ = listener.accept()
            address = name or sock.getsockname()[0].removeprefix("::ffff:")
            with self.lock:
                self.opened[address] += 1
            threading.Thread(target=self.talk, args=(sock,), daemon=True).start()

    def talk(self, sock):
        buffer = b""
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while True:
                while b"\r\n\r\n" not in buffer:
                    piece = sock.recv(65536)
                    if not piece:
                        return
                    buffer += piece
                head, buffer = buffer.split(b"\r\n\r\n", 1)
                target = head.split(b" ", 2)[1]
                if b"/to/" in target:
                    where = bytes.fromhex(target.rsplit(b"/", 1)[1].decode())
                    sock.sendall(b"HTTP/1.1 302 Found\r\nLocation: " + where + b"\r\nContent-Length: 0\r\n\r\n")
                else:
                    sock.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npublic")
        except OSError:
            pass
        finally:
            sock.close()


def begun():
    """Returns the number of connections that the kernel has started in this namespace."""
    with open("/proc/self/net/snmp") as lines:
        names, values = [line.split() for line in lines if line.startswith("Tcp:")]
    return int(values[names.index("ActiveOpens")])


def main():
    names, hosts = Names(int(sys.argv[1])), Hosts()
    threading.Thread(target=names.serve, daemon=True).start()
    hosts.listen(80)
    hosts.listen(PROXY_PORT, "proxy")
    print("ready", flush=True)
    sys.stdin.read()
    deadline = time.monotonic() + 10
    while sum(hosts.opened.values()) < begun() and time.monotonic() < deadline:
        time.sleep(0.05)  # the kernel accepts a connection before the program does
    print(json.dumps({"opened": hosts.opened, "begun": begun(), "questions": names.questions}), flush=True)
    os._exit(0)


main()
