"""The HTTP/2 peer, which reads requests and performs the plan for each stream on its own thread."""

import threading
import time

import reading
from frames import (CONTINUATION, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, PADDED, PING, RST_STREAM, SETTINGS,
                    WINDOW_UPDATE, Frame)
from plans import Connection
from wire import Gone

try:
    import hpack

    IS_POSSIBLE = True
except ImportError:
    IS_POSSIBLE = False


def frames(more):
    """Yields the type, flags, stream and payload of each frame in the bytes that `more` returns."""
    buffer = b""

    def take(count):
        nonlocal buffer
        while len(buffer) < count:
            buffer += more()
        taken, buffer = buffer[:count], buffer[count:]
        return taken

    while True:
        head = take(9)
        frame = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF
        try:
            payload = take(int.from_bytes(head[:3], "big"))
        except Gone:
            raise Gone(*frame, buffer) from None
        yield *frame, payload


def bare(kind, flags, payload):
    """Returns the payload without padding and priority, or None if it is too short."""
    if flags & PADDED:
        if not payload or payload[0] >= len(payload):
            return None
        payload = payload[1 : len(payload) - payload[0]]
    if kind == HEADERS and flags & 0x20:
        payload = payload[5:] if len(payload) >= 5 else None
    return payload


def refuses(sent):
    """Whether the frames sent on a connection report that the request of any stream was not processed."""
    place = 0
    while place + 9 <= len(sent):
        length, kind = int.from_bytes(sent[place : place + 3], "big"), sent[place + 3]
        if kind == GOAWAY or (kind == RST_STREAM and bytes(sent[place + 9 : place + 13]) == b"\0\0\0\7"):
            return True
        place += 9 + length
    return False


class Session:
    """A connection."""

    def __init__(self, wire, plans, ledger):
        self.wire, self.plans, self.ledger = wire, plans, ledger
        self.connection = Connection()
        self.requests = {}

    def serve(self):
        preface = b""
        while len(preface) < 24:
            preface += self.wire.receive(24 - len(preface))
        self._send(Frame(SETTINGS, 0, b"\0\3\0\0\0\x64", stream=None).data(0))
        decoder, block = hpack.Decoder(), b""
        for kind, flags, stream, payload in frames(self.wire.receive):
            if kind in (HEADERS, CONTINUATION):
                block += bare(kind, flags, payload) if kind == HEADERS else payload
                if flags & END_HEADERS:
                    self._begin(stream, dict(decoder.decode(block)), bool(flags & END_STREAM))
                    block = b""
            elif kind == DATA and payload:
                more = len(payload).to_bytes(4, "big")
                self._send(Frame(WINDOW_UPDATE, 0, more, None).data(0) + Frame(WINDOW_UPDATE, 0, more).data(stream))
            elif kind == SETTINGS and not flags & 1:
                self._send(Frame(SETTINGS, 1, b"", stream=None).data(0))
            elif kind == PING and not flags & 1:
                self._send(Frame(PING, 1, payload, stream=None).data(0))
            elif kind == RST_STREAM:
                self.requests.pop(stream, None)
            if kind == DATA and flags & END_STREAM:
                self._answer(stream)

    def _send(self, data):
        # Send and record in the same order, because a frame with a wrong length includes bytes of other streams.
        with self.wire.lock:
            self.connection.sent += data
            self.wire.send(data)

    def _begin(self, stream, fields, is_over):
        words = fields[":path"].split("?")[0].strip("/").split("/")
        number, is_wild = int(words[1]), words[0] == "wild"
        course, name = self.plans.http2(number, fields[":method"], is_wild)
        self.requests[stream] = (number, course, name)
        if is_over or course.is_early:
            self._answer(stream)

    def _answer(self, stream):
        if stream in self.requests:
            number, course, name = self.requests.pop(stream)
            if name is not None:
                self.connection.taint(stream)
            self.ledger.seen(number, self.connection, stream)
            threading.Thread(target=self._perform, args=(stream, number, course), daemon=True).start()

    def _perform(self, stream, number, course):
        try:
            for what, value in course.steps(stream):
                if what == "send":
                    self._send(value)
                elif what == "raw":
                    self.wire.send_raw(value)
                elif what == "pause":
                    time.sleep(value)
                elif what == "reset":
                    self.wire.reset()
                else:
                    self.wire.close(notify=what == "close")
        except (Gone, OSError, ValueError):
            pass  # the client has closed
        finally:
            self.ledger.sent(number)


def talk(wire, plans, ledger):
    """Serves a connection until it ends."""
    try:
        Session(wire, plans, ledger).serve()
    except (Gone, OSError, ValueError, hpack.HPACKError):
        pass
    finally:
        try:
            wire.sock.close()
        except OSError:
            pass


def source(sent):
    """Returns a closure for `frames` that returns all bytes sent on a connection at once."""
    pieces = [bytes(sent)] if sent else []

    def more():
        if not pieces:
            raise Gone()
        return pieces.pop()

    return more


def breaks(sent, stream):
    """Whether a stream violates the protocol, judged by all bytes sent on its connection."""
    try:
        Message().read(frames(source(sent)), stream)
    except Gone:
        return False
    except Exception:  # the package has many for a block that cannot be read
        return True
    return False


def read(sent, course, method, decodes, own, is_beside_broken=False):
    """Returns the required reading of a stream, based on all bytes sent on its connection.

    `is_beside_broken` is whether another stream on the connection violates the protocol.
    """
    message = Message()
    try:
        message.read(frames(source(sent)), own)
    except Gone as gone:
        message.is_cut = True
        message.take_part(own, *gone.args)
    except Exception:  # the package has many for a block that cannot be read
        return reading.Reading()
    status, fields, body = message.status, message.fields, bytes(message.body)
    if status is None:
        return reading.Reading(refusal="the stream does not end")
    lengths = {value for name, value in fields if name == b"content-length"}
    length = next((int(value) for value in lengths if len(lengths) == 1 and value.isdigit()), None)
    if method == "HEAD" or status in (204, 304):
        body = b""  # complete once the head has arrived
    elif length is not None and len(body) >= length:
        # RFC 9113 §8.1.1: bytes beyond the stated length make the message malformed, but the body before them is complete.
        body = body[:length]
    elif message.is_cut:
        return reading.Reading(refusal="the stream does not end", is_known=(message.is_reset or is_beside_broken) and not lengths)
    elif lengths:
        return reading.Reading(refusal="the length is %r, but the body has %d bytes" % (sorted(lengths), len(body)))
    return reading.decoded(status, fields, body, course.packed) if decodes else reading.Reading(None, status, body)


class Message:
    """The message on a stream. `status` is None without a final head. `is_reset` is whether a NO_ERROR reset ended it."""

    def __init__(self):
        self.status, self.fields, self.body, self.is_cut, self.is_reset = None, [], bytearray(), False, False

    def read(self, frames, own):
        """Reads the frames of stream `own`. Raises Gone if the message is truncated and ValueError if it is invalid."""
        block, ends = None, False
        for kind, flags, stream, payload in frames:
            if len(payload) > 16_384 or (stream != own and block is not None):
                raise ValueError()
            if stream != own:
                continue
            if (kind == CONTINUATION) != (block is not None):
                raise ValueError()
            if kind in (HEADERS, CONTINUATION):
                block = (block or b"") + (_checked(bare(kind, flags, payload)) if kind == HEADERS else payload)
                ends = ends or (kind == HEADERS and bool(flags & END_STREAM))
                if flags & END_HEADERS:
                    self._take(hpack.Decoder().decode(block, raw=True))
                    block = None
            elif kind == DATA:
                if self.status is None:
                    raise ValueError()
                self.body += _checked(bare(kind, flags, payload))
                ends = ends or bool(flags & END_STREAM)
            elif kind == RST_STREAM:
                self.is_reset = payload == bytes(4)  # NO_ERROR
                raise Gone()
            if ends and block is None:
                return

    def take_part(self, own, kind=None, flags=0, stream=0, payload=b""):
        """Reads the available bytes of a truncated DATA frame, as a client does."""
        if kind == DATA and stream == own and self.status is not None:
            self.body += payload[1:] if flags & PADDED else payload

    def _take(self, pairs):
        if self.status is None or self.status < 200:
            self.status, self.fields = int(dict(pairs)[b":status"]) if b":status" in dict(pairs) else 0, pairs


def _checked(payload):
    if payload is None:
        raise ValueError()
    return payload
