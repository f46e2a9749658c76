"""Valid HTTP/1.1 responses. Each contains the number of its exchange, so that a mix-up is detected."""

import re
import zlib

import packing

_UNASKED = 1_000_000_000
_MARK = re.compile(rb"id-(\d+)-([0-9a-f]{8})")


def mark(seed, number):
    """Returns the name of an exchange. A checksum prevents a damaged name from matching another exchange."""
    text = b"%d/%d" % (seed, number)
    return b"id-%d-%08x" % (number, zlib.crc32(text))


def unasked_mark(seed, number):
    return mark(seed, number + _UNASKED)


def marked(seed, data):
    """Returns the number of the first exchange named in `data`, or None if `data` contains no valid name."""
    for found in _MARK.finditer(data):
        number = int(found[1])
        if mark(seed, number) == found[0]:
            return number
    return None


def origin(number):
    """Returns the exchange during which a response with this number is sent."""
    return number - _UNASKED if number >= _UNASKED else number


class Answer:
    """The parts of a response. `pieces` returns its bytes in pieces, each with a label."""

    REASONS = {200: b"OK", 201: b"Created", 203: b"Other", 204: b"No Content", 304: b"Not Modified", 404: b"Not Found"}

    def __init__(self, rng, seed, number, method):
        self.mark = mark(seed, number)
        self.method = method
        self.status = rng.choice([200] * 12 + ([304, 404] if method in ("GET", "HEAD") else []) + [201, 203, 204])
        self.informational = rng.choice([[]] * 6 + [[b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"]])
        self.framing = rng.choice(["length"] * 4 + ["chunked"] * 4 + ["close"])
        size = rng.choice([0, 10, 700, 700, 5_000, 20_000, 100_000])
        filler = rng.randbytes(size) if rng.random() < 0.5 else (b"the quick brown fox %d " % number) * (size // 20)
        self.plain = self.mark + b"\n" + filler
        self.coding = rng.choice([None, None] + packing.CODINGS)
        self.body = packing.pack(self.coding, self.plain) if self.coding else self.plain
        self.trailers = [(b"X-Trailer", self.mark)] if self.framing == "chunked" and rng.random() < 0.4 else []
        self.sizes = [rng.choice([1, 10, 1000, 16_384]) for _ in range(8)]
        self.closes = self.framing == "close" or rng.random() < 0.15

    @property
    def has_body(self):
        return self.method != "HEAD" and self.status not in (204, 304)

    @property
    def fields(self):
        fields = [(b"X-Id", self.mark), (b"Server", b"peer"), (b"Content-Type", b"application/octet-stream")]
        if self.coding:
            fields.append((b"Content-Encoding", self.coding.encode()))
        if self.framing == "length" and self.status != 204:
            fields.append((b"Content-Length", b"%d" % len(self.body)))
        if self.framing == "chunked" and self.status != 204:
            fields.append((b"Transfer-Encoding", b"chunked"))
        if self.closes:
            fields.append((b"Connection", b"close"))
        return fields

    def pieces(self):
        pieces = [("info", head) for head in self.informational]
        pieces.append(("status", b"HTTP/1.1 %d %s\r\n" % (self.status, self.REASONS[self.status])))
        pieces += [("field", b"%s: %s\r\n" % field) for field in self.fields]
        pieces.append(("blank", b"\r\n"))
        if self.has_body:
            pieces += self._chunks() if self.framing == "chunked" else [("data", self.body)]
        return pieces

    def _chunks(self):
        start, index = 0, 0
        while start < len(self.body):
            size = self.sizes[index % len(self.sizes)] if index < 50 else len(self.body)
            data = self.body[start : start + size]
            yield ("size", b"%x\r\n" % len(data))
            yield ("data", data)
            yield ("mark", b"\r\n")
            start, index = start + size, index + 1
        yield ("last", b"0\r\n")
        for trailer in self.trailers:
            yield ("trailer", b"%s: %s\r\n" % trailer)
        yield ("end", b"\r\n")
