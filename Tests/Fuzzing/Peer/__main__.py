"""A server that misbehaves over TCP, TLS and HTTP/2, as determined by a seed, and judges how a client handles it.

Usage: `python3 Peer SEED FOLDER [--without a,b] [--only a,b]`. FOLDER contains server.pem and server.key. The program
prints its ports as one line of JSON and exits when its standard input ends.
"""

import http.server
import json
import os
import signal
import socket
import ssl
import sys
import threading
import traceback

import closing
import talking
import streams
from judge import Judge, Outcome
from plans import Ledger, Plans
from wire import Gone, Wire


def option(name):
    return set(sys.argv[sys.argv.index(name) + 1].split(",")) - {""} if name in sys.argv else set()


def listen(serve, context=None):
    """Listens on a port and calls `serve` for each connection, on its own thread. Returns the port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=512)

    def one(sock):
        try:
            serve(Wire(sock, context))
        except (Gone, OSError, ValueError):
            sock.close()

    def accept():
        while True:
            sock, _ = listener.accept()
            threading.Thread(target=one, args=(sock,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def context(protocol):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.path.join(sys.argv[2], "server.pem"), os.path.join(sys.argv[2], "server.key"))
    context.set_alpn_protocols([protocol])
    return context


def control(judge, closer):
    """Serves verdicts and the summary of a soak test. This server never misbehaves. Returns its port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            try:
                name, verdict, text = judge.verdict(int(self.path.rsplit("/", 1)[1]), Outcome(self.headers, body))
            except Exception:
                name, verdict, text = "none", "finding", "the judge failed: " + traceback.format_exc().replace("\n", " ")
            self.answer({"mutation": name, "verdict": verdict, "text": text})

        def do_GET(self):
            self.answer(closer.summary())

        def answer(self, value):
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def setup(self):
            super().setup()
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        def log_message(self, *arguments):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    plans, ledger = Plans(int(sys.argv[1]), option("--without"), option("--only")), Ledger()
    closer = closing.Closer(plans.seed)
    secure = context("http/1.1")
    ports = {
        "tcp": listen(lambda wire: talking.talk(wire, plans, ledger)),
        "tls": listen(lambda wire: talking.talk(wire, plans, ledger), secure),
        "h2": listen(lambda wire: streams.talk(wire, plans, ledger), context("h2")) if streams.IS_POSSIBLE else 0,
        "closing": listen(closer.serve, secure),
        "control": control(Judge(plans, ledger), closer),
    }
    print(json.dumps(ports), flush=True)
    sys.stdin.read()
    os._exit(0)


main()
