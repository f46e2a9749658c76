"""The peer's end of a connection over TCP, or over TLS that can be truncated or damaged at any byte."""

import select
import socket
import ssl
import struct
import threading


class Gone(Exception):
    """The other side has closed the connection or no longer reads."""


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
        """Returns at least one byte. Raises Gone at the end of the connection."""
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
        """Sends bytes without encrypting them."""
        try:
            with self.lock:
                self.sock.sendall(data)
        except OSError as error:
            raise Gone() from error

    @property
    def has_something_to_say(self):
        """Whether the other side has sent unread bytes or has closed the connection."""
        return bool(select.select([self.sock], [], [], 0)[0])

    def close(self, notify=True):
        """Closes the connection in an orderly way, over TLS with a close alert (RFC 8446 §6.1) if `notify` is set."""
        try:
            if self.tls and notify:
                with self.lock:
                    try:
                        self.tls.unwrap()
                    except ssl.SSLError:
                        pass  # the other side's close alert is missing, but ours has been written
                    self._flush()
            self.sock.shutdown(socket.SHUT_WR)
            self.sock.settimeout(0.2)
            for _ in range(64):  # closing with unread bytes would send a reset, which discards sent bytes
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
