"""A connection as the peer sees it: TCP, or TLS that can be cut and damaged at any byte."""

import select
import socket
import ssl
import struct
import threading


class Gone(Exception):
    """The other side has closed, or takes nothing more."""


class Wire:
    def __init__(self, sock, context=None):
        self.sock = sock
        sock.settimeout(10)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.lock = threading.RLock()
        self.tls = None
        if context:
            self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=True)
            self._pump(self.tls.do_handshake)

    def receive(self, size=65536):
        """Some bytes; raises Gone at the end."""
        if not self.tls:
            data = self._from_socket(size)
        else:
            data = self._pump(lambda: self.tls.read(size))
        if not data:
            raise Gone()
        return data

    def send(self, data):
        if not self.tls:
            return self.send_raw(data)
        with self.lock:
            for start in range(0, len(data), 16384):
                self.tls.write(data[start : start + 16384])
            self._flush()

    def send_raw(self, data):
        """Beneath TLS, where there is TLS."""
        try:
            with self.lock:
                self.sock.sendall(data)
        except OSError as error:
            raise Gone() from error

    @property
    def has_something_to_say(self):
        """Whether the other side has sent something that was not read, or has closed."""
        return bool(select.select([self.sock], [], [], 0)[0])

    def close(self, notify=True):
        """In order: what was sent arrives. TLS says so too (RFC 8446 §6.1), unless it is not to."""
        try:
            if self.tls and notify:
                with self.lock:
                    try:
                        self.tls.unwrap()
                    except ssl.SSLError:
                        pass  # it waits for the other side's; ours is written
                    self._flush()
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(0.2)
            for _ in range(64):  # or what is unread makes a reset of it, which takes away what was sent
                if not self.sock.recv(65536):
                    break
        except (OSError, Gone):
            pass
        self.sock.close()

    def reset(self):
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.sock.close()

    def _from_socket(self, size):
        try:
            return self.sock.recv(size)
        except OSError as error:
            raise Gone() from error

    def _flush(self):
        data = self.outgoing.read()
        if data:
            self.send_raw(data)

    def _pump(self, step):
        while True:
            with self.lock:
                try:
                    result = step()
                    self._flush()
                    return result
                except ssl.SSLWantReadError:
                    self._flush()
                except ssl.SSLError as error:
                    raise Gone() from error
            data = self._from_socket(65536)
            if not data:
                raise Gone()
            with self.lock:
                self.incoming.write(data)
