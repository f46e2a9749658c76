"""The HTTP/1.1 peer, which reads requests and performs the plan for each."""

import time

from plans import Connection
from wire import Gone


class Request:
    """A request. `/wild/17` is exchange 17 with a mutated response. `/clean/18` has a valid response."""

    def __init__(self, head):
        lines = head.split(b"\r\n")
        method, path, _ = lines[0].decode("latin-1").split(" ", 2)
        words = path.split("?")[0].strip("/").split("/")
        self.method, self.is_wild, self.number = method, words[0] == "wild", int(words[1])
        self.fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(b":")
            self.fields[name.lower()] = value.strip()


class Talk:
    def __init__(self, wire, plans, ledger):
        self.wire, self.plans, self.ledger = wire, plans, ledger
        self.buffer = b""
        self.connection = Connection()

    def serve(self):
        while True:
            request = Request(self._until(b"\r\n\r\n")[:-4])
            course, name = self.plans.http1(request.number, request.method, request.is_wild)
            if not course.is_early:
                self._body(request)
            self.connection.is_tainted |= name is not None
            self.ledger.seen(request.number, self.connection)
            try:
                if not self._perform(request.number, course.steps):
                    return
            finally:
                self.ledger.sent(request.number)
            if course.is_early:
                self._body(request)

    def _perform(self, number, steps):
        """Performs the steps. Returns False if they ended the connection."""
        for what, value in steps:
            if what not in ("send", "raw", "pause", "unasked"):
                self.ledger.sent(number)  # closing takes a while
            if what == "send":
                self.wire.send(value)
            elif what == "raw":
                self.wire.send_raw(value)
            elif what == "pause":
                time.sleep(value)
            elif what == "unasked":
                # Once the next request has been sent, this would be indistinguishable from its response.
                if self.buffer or self.wire.has_something_to_say:
                    return True
                self.wire.send(value)
            elif what == "reset":
                self.wire.reset()
                return False
            else:
                self.wire.close(notify=what == "close")
                return False
        return True

    def _more(self):
        self.buffer += self.wire.receive()

    def _take(self, count):
        while len(self.buffer) < count:
            self._more()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def _until(self, mark):
        while mark not in self.buffer:
            self._more()
        return self._take(self.buffer.index(mark) + len(mark))

    def _body(self, request):
        if request.fields.get(b"transfer-encoding", b"").lower() == b"chunked":
            while size := int(self._until(b"\r\n")[:-2].split(b";")[0], 16):
                self._take(size + 2)
            self._until(b"\r\n")
        else:
            self._take(int(request.fields.get(b"content-length", b"0")))


def talk(wire, plans, ledger):
    """Serves a connection until it ends."""
    try:
        Talk(wire, plans, ledger).serve()
    except Gone:
        wire.sock.close()
