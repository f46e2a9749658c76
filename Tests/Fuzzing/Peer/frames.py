"""HTTP/2 responses and their mutations. Frames are encoded here, because no library encodes invalid frames."""

import random

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM, END_HEADERS, PADDED = 1, 4, 8
_STALL = 1.0
KINDS = {}


def kind(name, weight=4):
    def register(function):
        KINDS[name] = (function, weight)
        return function

    return register


class Frame:
    """A frame. `stream` is an offset from the stream of the exchange, or None for the connection."""

    def __init__(self, type, flags=0, payload=b"", stream=0, length=None):
        self.type, self.flags, self.payload, self.stream, self.length = type, flags, payload, stream, length

    def data(self, own):
        stream = 0 if self.stream is None else max(0, own + self.stream)
        length = len(self.payload) if self.length is None else self.length
        return length.to_bytes(3, "big") + bytes([self.type, self.flags]) + stream.to_bytes(4, "big") + self.payload

    def copy(self):
        return Frame(self.type, self.flags, self.payload, self.stream, self.length)


def literal(name, value):
    """Encodes a field without Huffman coding or indexing (RFC 7541 §6.2.2), independently of earlier fields."""
    return b"\0" + _string(name) + _string(value)


def _string(text):
    if len(text) < 127:
        return bytes([len(text)]) + text
    rest, size = len(text) - 127, b"\x7f"
    while rest >= 128:
        size, rest = size + bytes([rest % 128 + 128]), rest // 128
    return size + bytes([rest]) + text


def valid(rng, answer):
    """Returns the frames of a valid response."""
    block = literal(b":status", b"%d" % answer.status)
    for name, value in answer.fields:
        if name not in (b"Transfer-Encoding", b"Connection"):
            block += literal(name.lower(), value)
    frames = [Frame(HEADERS, END_HEADERS, literal(b":status", b"103")) for _ in answer.informational]
    body = answer.body if answer.has_body else b""
    first = rng.randrange(1, len(block)) if rng.random() < 0.2 else len(block)
    frames.append(Frame(HEADERS, 0 if body else END_STREAM, block[:first]))
    if first < len(block):
        frames.append(Frame(CONTINUATION, 0, block[first:]))
    frames[-1].flags |= END_HEADERS
    start, index = 0, 0
    while start < len(body):
        size = answer.sizes[index % 8] if index < 50 else 16_000
        piece = body[start : start + size]
        if rng.random() < 0.1 and len(piece) < 16_000:
            frames.append(Frame(DATA, PADDED, b"\x09" + piece + bytes(9)))
        else:
            frames.append(Frame(DATA, 0, piece))
        start, index = start + size, index + 1
    if body and answer.trailers:
        frames.append(Frame(HEADERS, END_HEADERS | END_STREAM, literal(b"x-trailer", answer.mark)))
    elif body and rng.random() < 0.2:
        frames.append(Frame(DATA, END_STREAM))
    elif body:
        frames[-1].flags |= END_STREAM
    return frames


class Course:
    """The frames of an exchange, their mutations, and the steps that send them, as for HTTP/1.1."""

    def __init__(self, rng, answer):
        self.rng, self.answer = rng, answer
        self.packed = answer.body if answer.coding else b""
        self.frames = valid(rng, answer)
        self.tail = []
        self.pause_at = None
        self.damage = None
        self.is_early = False
        self.is_processed = True

    def any_place(self):
        return self.rng.randrange(len(self.frames) + 1)

    def any_frame(self):
        return self.rng.choice(self.frames)

    def data(self, own):
        data = b"".join(frame.data(own) for frame in self.frames)
        return self.damage(bytearray(data)) if self.damage else data

    def steps(self, own):
        data = self.data(own)
        if self.pause_at is None:
            return [("send", data)] + self.tail
        place = int(len(data) * self.pause_at)
        return [("send", data[:place]), ("pause", _STALL), ("send", data[place:])] + self.tail


@kind("h2-bytes", 16)
def _bytes(course):
    seed = course.rng.random()

    def damage(data):
        rng = random.Random(seed)
        for _ in range(rng.choice([1, 1, 2, 5])):
            # Favor the first frames, because clients check their headers and fields most closely.
            place = rng.randrange(max(1, min(len(data), rng.choice([9, 100, len(data)]))))
            way = rng.randrange(4)
            if way == 0 and data:
                data[place % len(data)] ^= 1 << rng.randrange(8)
            elif way == 1:
                data[place:place] = rng.randbytes(rng.choice([1, 9, 50]))
            elif way == 2:
                data[place:place] = data[place : place + rng.choice([1, 9, 100])]
            else:
                del data[place : place + rng.choice([1, 9, 100])]
        return bytes(data)

    course.damage = damage


@kind("h2-frames", 10)
def _frames(course):
    """Frames that are missing, duplicated, reordered, changed, or sent on another stream."""
    rng = course.rng
    for _ in range(rng.choice([1, 1, 2])):
        place = rng.randrange(len(course.frames))
        way = rng.randrange(6)
        if way == 0 and len(course.frames) > 1:
            del course.frames[place]
        elif way == 1:
            course.frames.insert(course.any_place(), course.frames[place].copy())
        elif way == 2:
            rng.shuffle(course.frames)
        elif way == 3:
            course.frames[place].stream = rng.choice([None, 2, -2, 1, 1000])
        elif way == 4:
            course.frames[place].flags ^= rng.choice([1, 4, 8, 32, 0x50])
        else:
            course.frames[place].type = rng.choice([0, 1, 2, 4, 5, 9, 10, 77])


@kind("h2-sizes")
def _sizes(course):
    frame = course.any_frame()
    frame.length = course.rng.choice([0, 1, 8, 16_385, 0xFFFFFF, len(frame.payload) + 1, max(0, len(frame.payload) - 1)])


@kind("h2-padding")
def _padding(course):
    frame = course.any_frame()
    frame.flags |= PADDED
    frame.payload = bytes([course.rng.choice([0, 1, 200, 255])]) + frame.payload


@kind("h2-reset", 6)
def _reset(course):
    code = course.rng.choice([0, 0, 1, 2, 5, 7, 8, 0xD, 0xFFFFFFFF])
    place = course.any_place()
    course.is_processed = code != 7
    course.frames.insert(place, Frame(RST_STREAM, 0, code.to_bytes(4, "big")))
    if course.rng.random() < 0.5:
        del course.frames[place + 1 :]


@kind("h2-goaway", 6)
def _goaway(course):
    rng = course.rng
    last = rng.choice([0, 0, 1, 3, 0x7FFFFFFF])
    payload = last.to_bytes(4, "big") + rng.choice([0, 1, 7, 11]).to_bytes(4, "big") + rng.choice([b"", b"debug" * 100])
    course.is_processed = False
    course.frames.insert(course.any_place(), Frame(GOAWAY, 0, payload, stream=None))
    if rng.random() < 0.4:
        course.tail = [(rng.choice(["close", "reset"]), b"")]


@kind("h2-control")
def _control(course):
    """Control frames with invalid values."""
    rng = course.rng
    pair = rng.choice([(2, 1), (2, 9), (3, 0), (4, 0x80000000), (4, 0), (5, 1), (5, 0xFFFFFFFF), (6, 1), (1, 0), (99, 9)])
    settings = pair[0].to_bytes(2, "big") + pair[1].to_bytes(4, "big")
    course.frames.insert(course.any_place(), rng.choice([
        Frame(WINDOW_UPDATE, 0, bytes(4)), Frame(WINDOW_UPDATE, 0, bytes(4), stream=None),
        Frame(WINDOW_UPDATE, 0, b"\x7f\xff\xff\xff"), Frame(WINDOW_UPDATE, 0, b"\x7f\xff\xff\xff", stream=None),
        Frame(WINDOW_UPDATE, 0, b"\0\0"), Frame(SETTINGS, 0, settings, stream=None), Frame(SETTINGS, 1, settings, stream=None),
        Frame(SETTINGS, 0, settings), Frame(SETTINGS, 0, b"\0\0\0", stream=None), Frame(PING, 0, bytes(7), stream=None),
        Frame(PING, 1, bytes(8), stream=None), Frame(PING, 0, bytes(8)), Frame(PRIORITY, 0, bytes(5)),
        Frame(PRIORITY, 0, b"\0\0\0\1\xff"), Frame(RST_STREAM, 0, bytes(4), stream=None), Frame(RST_STREAM, 0, bytes(3)),
        Frame(PUSH, END_HEADERS, b"\0\0\0\2" + literal(b":method", b"GET")), Frame(0xAB, 0xFF, bytes(50)),
        Frame(CONTINUATION, END_HEADERS, b"x"), Frame(GOAWAY, 0, bytes(5), stream=None)]))


@kind("h2-fields", 6)
def _fields(course):
    """A header block that is malformed or contains forbidden fields."""
    rng = course.rng
    heads = [frame for frame in course.frames if frame.type == HEADERS]
    frame = rng.choice(heads)
    more = rng.choice([
        b"\xff\xff\xff\xff\xff\xff", b"\x80", b"\xbf", b"\xfe", b"\x3f\xff\xff\xff\x0f", b"\0\x7f", literal(b":status", b"200"),
        literal(b":status", b"20"), literal(b":status", b""), literal(b":path", b"/"), literal(b"X-Upper", b"a"),
        literal(b"connection", b"close"), literal(b"transfer-encoding", b"chunked"), literal(b"", b"a"),
        literal(b"x", b"a\r\nb: c"), literal(b"x", b"a\0b"), literal(b"content-length", b"5"),
        literal(b"content-length", b"-1"), literal(b"x y", b"a"), literal(b"x", b" a "), b"\x40\x01x\x81\xff",
        literal(b"x-long", b"l" * 15_000)])
    frame.payload = more + frame.payload if rng.random() < 0.4 else frame.payload + more


@kind("h2-flood", 2)
def _flood(course):
    rng = course.rng
    count = rng.choice([1000, 20_000, 100_000])
    frame = rng.choice([
        Frame(PING, 0, bytes(8), stream=None), Frame(SETTINGS, 0, b"", stream=None), Frame(DATA, 0, b""),
        Frame(WINDOW_UPDATE, 0, b"\0\0\0\1", stream=None), Frame(PRIORITY, 0, b"\0\0\0\0\1"), Frame(0xAB, 0, b""),
        Frame(HEADERS, END_HEADERS, literal(b":status", b"103")), Frame(DATA, PADDED, b"\x00")])
    place = course.any_place()
    course.frames[place:place] = [frame] * count


@kind("h2-continuations", 1)
def _continuations(course):
    """A header block with a large number of CONTINUATION frames."""
    block = literal(b"x-flood", b"f" * 100) * 20
    head = course.frames[0]
    head.flags &= ~END_HEADERS
    count = course.rng.choice([20, 200, 1500])
    course.frames[1:1] = [Frame(CONTINUATION, 0, block)] * count + [Frame(CONTINUATION, END_HEADERS, b"")]


@kind("h2-lengths")
def _lengths(course):
    """A `content-length` that does not match the body."""
    answer, rng = course.answer, course.rng
    line = literal(b"content-length", b"%d" % (len(answer.body) + rng.choice([1, -1, 1000])))
    head = [frame for frame in course.frames if frame.type == HEADERS][len(answer.informational)]
    if answer.framing != "length":
        head.payload += line
    elif rng.random() < 0.5:
        course.frames.append(Frame(DATA, END_STREAM, b"more"))
    else:
        course.frames[-1].payload = course.frames[-1].payload[:-1]


@kind("h2-cut", 8)
def _cut(course):
    share = course.rng.random()
    course.damage = lambda data: bytes(data[: int(len(data) * share)])
    course.tail = [(course.rng.choice(["close", "cut", "reset"]), b"")]


@kind("h2-stall", 2)
def _stall(course):
    course.pause_at = course.rng.random()


@kind("h2-early")
def _early(course):
    """A complete response before the end of the request. A NO_ERROR reset may follow (RFC 9113 §8.1)."""
    course.is_early = True
    if course.rng.random() < 0.6:
        course.frames.append(Frame(RST_STREAM, 0, bytes(4)))


@kind("h2-tls", 2)
def _tls(course):
    course.tail = [("raw", course.rng.choice([course.rng.randbytes(50), b"\x15\x03\x03\x00\x02\x02\x28"])), ("close", b"")]


def course(rng, answer, is_wild, allowed):
    course = Course(rng, answer)
    name = None
    if is_wild:
        name = rng.choices(list(KINDS), [weight for _, weight in KINDS.values()])[0]
        if allowed(name):
            KINDS[name][0](course)
        else:
            name = None
    return course, name
