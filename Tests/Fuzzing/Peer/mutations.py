"""Mutations of HTTP/1.1 responses. Each has a name, which can be used to exclude it."""

import zlib

import packing

KINDS = {}
_STALL = 1.0  # longer than the client's time limits


def kind(name, weight=4):
    def register(function):
        KINDS[name] = (function, weight)
        return function

    return register


class Course:
    """The steps that the peer performs, and whether it performs them before it reads the request body."""

    def __init__(self, rng, answer, unasked):
        self.rng = rng
        self.answer = answer
        self.unasked = unasked
        self.pieces = list(answer.pieces())
        self.steps = []
        self.is_early = False

    @property
    def data(self):
        return b"".join(data for _, data in self.pieces)

    def places(self, *labels):
        return [index for index, (label, _) in enumerate(self.pieces) if label in labels]

    def replace(self, index, data):
        self.pieces[index] = (self.pieces[index][0], data)

    def insert(self, index, data, label="field"):
        self.pieces.insert(index, (label, data))

    def add_field(self, data):
        """Inserts a line at a random position in the header."""
        self.insert(self.rng.choice(self.places("field", "blank")), data)

    def set_field(self, name, line):
        """Replaces the field with `line`, or inserts `line` at a random position if there is no such field."""
        own = [i for i in self.places("field") if self.pieces[i][1].lower().startswith(name.lower() + b":")]
        if own:
            self.replace(own[0], line)
        else:
            self.add_field(line)

    def finish(self):
        """Sends the response in up to three pieces unless a mutation has set the steps, and closes if the head says so."""
        if not self.steps:
            data = self.data
            cuts = sorted(self.rng.randrange(len(data) + 1) for _ in range(self.rng.choice([0, 0, 1, 2])))
            for start, end in zip([0] + cuts, cuts + [len(data)]):
                self.steps.append(("send", data[start:end]))
        if self.answer.closes and self.steps[-1][0] not in ("close", "cut", "reset"):
            self.steps.append(("close", b""))
        return self


@kind("bytes", 16)
def _bytes(course):
    rng, data = course.rng, bytearray(course.data)
    head = len(course.data) - len(course.answer.body) if course.answer.has_body else len(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        place = rng.randrange(max(1, min(len(data), head if rng.random() < 0.7 else len(data))))
        way = rng.randrange(4)
        piece = bytes(data[place : place + rng.choice([1, 2, 10, 100])])
        if way == 0 and data:
            data[place % len(data)] ^= 1 << rng.randrange(8)
        elif way == 1:
            data[place:place] = rng.choice([rng.randbytes(rng.choice([1, 3, 50])), b"\r", b"\n", b"\0", b" ", b":"])
        elif way == 2:
            data[place:place] = piece
        else:
            del data[place : place + len(piece)]
    course.steps = [("send", bytes(data))]


@kind("folded")
def _folded(course):
    rng = course.rng
    place = rng.choice(course.places("status", "field", "info", "trailer"))
    line = rng.choice([b" x-a: a\r\n", b"\tb\r\n", b" \r\n", b" Set-Cookie: session=evil\r\n", b" \r\n x\r\n"])
    course.insert(place + 1, line)


@kind("lengths")
def _lengths(course):
    rng, size = course.rng, len(course.answer.body)
    value = rng.choice([
        b"%d, %d" % (size, size + 1), b"+%d" % size, b"%dabc" % size, b"0x%x" % size, b"9223372036854775808", b"-1",
        b"18446744073709551616", b"%d.0" % size, b"", b"%d %d" % (size, size), b"9" * 400, b"%d" % (size + 1),
        b"%d" % max(0, size - 1), b"00%d" % size, b"%d, %d" % (size, size)])
    line = b"Content-Length: %s\r\n" % value
    if rng.random() < 0.5:
        course.set_field(b"Content-Length", line)
    else:
        course.add_field(line)


@kind("codings")
def _codings(course):
    value = course.rng.choice([
        b": chunked, chunked", b": identity", b": gzip, chunked", b": chunked, identity", b" : chunked", b":\r\n chunked",
        b": xchunked", b": CHUNKED", b": chunked;x=1", b":chunked\r\nTransfer-Encoding: chunked", b": \x0bchunked"])
    course.set_field(b"Transfer-Encoding", b"Transfer-Encoding%s\r\n" % value)


@kind("versions")
def _versions(course):
    course.replace(course.places("status")[0], course.rng.choice([
        b"http/1.1 200 OK\r\n", b"HTTP/2.0 200 OK\r\n", b"HTTP/-1.1 200 OK\r\n", b"HTTP/1.1 099 Low\r\n",
        b"HTTP/1.1 1000 High\r\n", b"HTTP/0.9 200 OK\r\n", b"HTTP/1.1 200\r\n", b"HTTP/1.0 200 OK\r\n", b"garbage\r\n",
        b"HTTP/1.1 20\r\n", b"HTTP/1.1 101 Switching\r\n", b"HTTP/1.12 200 OK\r\n", b"ICY 200 OK\r\n",
        b"HTTP/1.1 -200 OK\r\n", b"HTTP/3 200 OK\r\n", b"HTTP/1.1\r\n", b"\r\n"]))


@kind("chunks")
def _chunks(course):
    places = course.places("size", "last", "mark")
    if not places:
        return _lengths(course)
    rng, place = course.rng, course.rng.choice(places)
    size = course.pieces[place][1].strip() or b"0"
    course.replace(place, rng.choice([
        b"ffffffffffffffff\r\n", b"%s\r\n" % (b"1" * 200), b"0x%s\r\n" % size, b"-%s\r\n" % size, b" %s\r\n" % size,
        b"%s;a=b\r\n" % size, b"%s ; a\r\n" % size, b"%s\n" % size, b"\r\n", b"zz\r\n", b"", b"%s\r\r\n" % size,
        b"7fffffffffffffff\r\n", b"00000000%s\r\n" % size, b"%x\r\n" % (int(size, 16) + 1), b"%s;%s\r\n" % (
            size, b"e" * rng.choice([100, 20_000]))]))


@kind("lines", 6)
def _lines(course):
    rng = course.rng
    place = rng.choice(course.places("status", "field", "blank", "trailer", "info"))
    line = course.pieces[place][1]
    course.replace(place, rng.choice([
        line.replace(b"\r\n", b"\n"), line.replace(b"\r\n", b"\r"), line.replace(b"\r\n", b"\r\r\n"),
        line.replace(b": ", b" : ", 1), line.replace(b": ", b":", 1), b" " + line, line.replace(b": ", b": a\rb ", 1),
        line.replace(b"-", b" ", 1), line.replace(b":", b"", 1), line + b"\n", b"X\rY: z\r\n" + line,
        b": no name\r\n" + line, line.replace(b": ", b": \0", 1), line + line]))


@kind("cut", 8)
def _cut(course):
    rng, data = course.rng, course.data
    end = rng.randrange(len(data) + 1)
    course.steps = [("send", data[:end]), (rng.choice(["close", "close", "reset", "cut"]), b"")]


@kind("packed-cut", 8)
def _packed_cut(course):
    """The framing matches the truncated body, so only the compressed data shows that the body is incomplete."""
    answer, rng = course.answer, course.rng
    if not answer.coding or not answer.has_body:
        return _cut(course)
    answer.body = answer.body[: rng.choice([rng.randrange(1, len(answer.body)), len(answer.body) - rng.choice([1, 4, 8])])]
    course.pieces = list(answer.pieces())


@kind("packed")
def _packed(course):
    answer, rng = course.answer, course.rng
    way = rng.randrange(5)
    if not answer.has_body:
        return _bytes(course)
    if way == 0:
        answer.coding, answer.body = "deflate", packing.pack("gzip", answer.plain)
    elif way == 1:
        answer.coding = "gzip"
        answer.body = packing.pack("gzip", answer.plain[:5]) + packing.pack("gzip", answer.plain[5:])
    elif way == 2:
        answer.body += rng.choice([b"x", bytes(8), rng.randbytes(300)])
    elif way == 3:
        raw = zlib.compressobj(6, zlib.DEFLATED, -15)
        answer.coding, answer.body = "deflate", raw.compress(answer.plain) + raw.flush()
    else:
        body = bytearray(answer.body)
        body[rng.randrange(len(body))] ^= 1 << rng.randrange(8)
        answer.body = bytes(body)
    course.pieces = list(answer.pieces())


@kind("stall", 2)
def _stall(course):
    rng, data = course.rng, course.data
    end = rng.randrange(len(data) + 1)
    course.steps = [("send", data[:end]), ("pause", _STALL), ("send", data[end:])]


@kind("reset")
def _reset(course):
    data = course.data
    course.steps = [("send", data[: course.rng.choice([0, 1, len(data), len(data)])]), ("reset", b"")]


@kind("flood-fields", 1)
def _flood_fields(course):
    rng = course.rng
    line = rng.choice([b"X-Flood: %s\r\n" % (b"f" * 1000), b"X:\r\n", b"X-Long: %s\r\n" % (b"l" * 500_000)])
    course.add_field(line * (rng.choice([50_000, 400_000, 3_000_000]) // len(line) + 1))


@kind("flood-informational", 1)
def _flood_informational(course):
    head = b"HTTP/1.1 10%d Wait\r\nX: y\r\n\r\n" % course.rng.choice([0, 2, 3])
    course.insert(0, head * (course.rng.choice([20_000, 400_000, 3_000_000]) // len(head)), "info")


@kind("flood-trailers", 1)
def _flood_trailers(course):
    ends = course.places("end")
    if not ends:
        return _flood_fields(course)
    line = b"X-Flood: %s\r\n" % (b"t" * course.rng.choice([1, 100, 8000]))
    course.insert(ends[0], line * (course.rng.choice([20_000, 400_000, 3_000_000]) // len(line)), "trailer")


@kind("flood-extension", 1)
def _flood_extension(course):
    places = course.places("size", "last")
    if not places:
        return _flood_fields(course)
    place = course.rng.choice(places)
    size = course.pieces[place][1].strip()
    course.replace(place, size + b";" + b"e" * course.rng.choice([20_000, 3_000_000]) + b"\r\n")


@kind("unasked", 8)
def _unasked(course):
    """An unsolicited response follows the response, either in the same packet or on the idle connection."""
    rng, number = course.rng, course.unasked
    more = rng.choice([
        b"HTTP/1.1 200 OK\r\nX-Id: %s\r\nContent-Length: %d\r\n\r\n%s" % (number, len(number), number), course.data, b"\r\n",
        b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.1 ", b"\0"])
    course.answer.closes = False
    data = b"".join(piece for label, piece in course.answer.pieces())
    if rng.random() < 0.5:
        course.steps = [("send", data + more)]
    else:
        course.steps = [("send", data), ("pause", rng.choice([0, 0.002, 0.02])), ("unasked", more)]
    if rng.random() < 0.3:
        course.steps.append((rng.choice(["close", "reset"]), b""))


@kind("idle-close")
def _idle_close(course):
    course.answer.closes = False
    data = b"".join(piece for label, piece in course.answer.pieces())
    course.steps = [("send", data), ("pause", course.rng.choice([0, 0, 0.001, 0.02])),
                    (course.rng.choice(["close", "cut", "reset"]), b"")]


@kind("early")
def _early(course):
    """The peer responds before it reads the request body, and may not read it at all."""
    course.is_early = True
    data = course.data
    course.steps = [("send", data)] + course.rng.choice([
        [], [("pause", 0.02)], [("close", b"")], [("reset", b"")], [("pause", _STALL), ("close", b"")]])


@kind("extra-body", 2)
def _extra_body(course):
    """A status that does not match the body, or a body where none is allowed."""
    answer, rng = course.answer, course.rng
    if answer.has_body:
        answer.status = rng.choice([204, 304, 205, 600, 999, 101])
        line = b"HTTP/1.1 %d Odd\r\n" % answer.status
        course.replace(course.places("status")[0], line)
    else:
        course.pieces.append(("data", answer.body))


@kind("tls", 3)
def _tls(course):
    rng, data = course.rng, course.data
    end = rng.randrange(len(data) + 1)
    garbage = rng.choice([rng.randbytes(50), b"\x17\x03\x03\x00\x10" + rng.randbytes(16), b"\x15\x03\x03\x00\x02\x02\x28",
                          b"\x16\x03\x03\x40\x00", b"HTTP/1.1 200 OK\r\n\r\n"])
    course.steps = [("send", data[:end]), ("raw", garbage), ("send", data[end:]), ("close", b"")]


def course(rng, answer, unasked, is_wild, allowed):
    """Returns the course of an exchange, and the name of its mutation, or None if the response is valid."""
    course = Course(rng, answer, unasked)
    name = None
    if is_wild:
        name = rng.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
        if allowed(name):
            KINDS[name][0](course)
        else:
            name = None
    return course.finish(), name
