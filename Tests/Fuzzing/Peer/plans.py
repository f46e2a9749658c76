"""Plans the response to each exchange. A plan depends only on the seed and the number, so a run can be repeated."""

import math
import random
import threading
import time

import answers
import frames
import mutations


class Plans:
    def __init__(self, seed, without, only):
        self.seed = seed
        self.without = without
        self.only = only

    def _allows(self, name):
        return name not in self.without and (not self.only or name in self.only)

    def http1(self, number, method, is_wild):
        """Returns the course of an exchange, and the name of its mutation, or None if the response is valid."""
        rng = random.Random("%d/%d" % (self.seed, number))
        answer = answers.Answer(rng, self.seed, number, method)
        packed = answer.body if answer.coding else b""
        course, name = mutations.course(
            rng, answer, answers.unasked_mark(self.seed, number), is_wild, self._allows)
        course.packed = packed
        return course, name

    def http2(self, number, method, is_wild):
        rng = random.Random("%d/%d" % (self.seed, number))
        answer = answers.Answer(rng, self.seed, number, method)
        return frames.course(rng, answer, is_wild, self._allows)


class Connection:
    """A connection: whether the peer has sent an invalid response on it, and, for HTTP/2, all bytes sent."""

    def __init__(self):
        self.is_tainted = False
        self.sent = bytearray()
        self._tainted_streams = set()

    def taint(self, stream):
        self.is_tainted = True
        self._tainted_streams.add(stream)

    def tainted_beside(self, stream):
        return self._tainted_streams - {stream}


class Ledger:
    """The connections of each exchange, and when its response was sent."""

    class Entry:
        def __init__(self):
            self.connections = []
            self.sent_at = 0
            self.streams = []

    def __init__(self):
        self._entries = {}
        self._lock = threading.Lock()

    def seen(self, number, connection, stream=1):
        """Records that a request was read, with as much of its body as the plan reads before it answers."""
        with self._lock:
            entry = self._entries.setdefault(number, self.Entry())
            entry.connections.append(connection)
            entry.streams.append(stream)
            entry.sent_at = math.inf

    def sent(self, number):
        """Records when the last byte of an exchange was sent. Later calls for the same request have no effect."""
        with self._lock:
            entry = self._entries.setdefault(number, self.Entry())
            entry.sent_at = min(entry.sent_at or math.inf, time.monotonic_ns())

    def entry(self, number):
        with self._lock:
            return self._entries.get(number, self.Entry())

    def forget(self, before):
        with self._lock:
            for number in [number for number in self._entries if number < before]:
                del self._entries[number]
