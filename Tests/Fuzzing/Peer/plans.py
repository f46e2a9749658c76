"""What is done about each exchange: drawn from the seed and its number alone, so that a run can be repeated."""

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
        """The answer as it ought to be, the course of what is sent, and the name of what is wrong with it."""
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
    """What the peer knows of one: whether anything but valid answers went over it, and over HTTP/2 all that did."""

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
    """What became of the exchanges that are under way."""

    class Entry:
        def __init__(self):
            self.connections = []
            self.sent_at = 0
            self.streams = []

    def __init__(self):
        self._entries = {}
        self._lock = threading.Lock()

    def seen(self, number, connection, stream=1):
        """A request was read in full, head and body or as much of it as is to be read."""
        with self._lock:
            entry = self._entries.setdefault(number, self.Entry())
            entry.connections.append(connection)
            entry.streams.append(stream)
            entry.sent_at = math.inf

    def sent(self, number):
        """The last byte of what is sent in the course of an exchange has left. The first word counts."""
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
