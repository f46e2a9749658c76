"""A server for soak tests, which sends valid responses but ends connections at random moments."""

import random
import threading
import time

from talking import Request, Talk
from wire import Gone


class Closer:
    def __init__(self, seed):
        self._seed, self._count = seed, 0
        self._lock = threading.Lock()
        self._posts, self._twice, self._requests, self._ends = set(), 0, 0, {}

    def summary(self):
        with self._lock:
            return {"requests": self._requests, "connections": self._count, "sentTwice": self._twice, "ends": self._ends}

    def serve(self, wire):
        with self._lock:
            self._count += 1
            rng = random.Random("%d/%d" % (self._seed, self._count))
        try:
            self._connection(Talk(wire, None, None), rng)
        except Gone:
            wire.sock.close()

    def _connection(self, talk, rng):
        wire = talk.wire
        for _ in range(int(rng.expovariate(1 / 8))):
            self._answer(talk, b"")
        end = rng.choice(["announced", "after", "idle", "unanswered", "head", "body", "reset"])
        with self._lock:
            self._ends[end] = self._ends.get(end, 0) + 1
        if end == "announced":
            self._answer(talk, b"Connection: close\r\n")
        elif end in ("after", "idle"):
            self._answer(talk, b"")
            if end == "idle":
                time.sleep(rng.random() * 0.02)
        elif end == "reset":
            self._answer(talk, b"")
            return wire.reset()
        else:
            answer = self._answer(talk, b"", sends=False)
            head = answer.index(b"\r\n\r\n") + 4
            end = {"unanswered": 0, "head": rng.randrange(1, head), "body": rng.randrange(head, len(answer))}[end]
            wire.send(answer[:end])
        wire.close()

    def _answer(self, talk, field, sends=True):
        """Reads a request and sends a response that contains its number."""
        request = Request(talk._until(b"\r\n\r\n")[:-4])
        talk._body(request)
        with self._lock:
            self._requests += 1
            if request.method == "POST":
                self._twice += request.number in self._posts
                self._posts.add(request.number)
        body = b"call %d" % request.number
        answer = b"HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s" % (field, len(body), body)
        if sends:
            talk.wire.send(answer)
        return answer
