"""Determines how a client must read an HTTP/1.1 response: as complete, or as an error."""

import re

import packing

# RFC 9110 §5.6.3. Python's default whitespace includes form feeds, which are part of the value.
_BLANKS = b" \t"


class Reading:
    """The required reading of a response.

    `refusal` is the reason if a client must reject the response. `body` is the required body, or None if any body is
    acceptable. `is_known` is set if libcurl does not report the problem, as the guide documents.
    """

    def __init__(self, refusal=None, status=None, body=None, is_known=False):
        self.refusal, self.status, self.body, self.is_known = refusal, status, body, is_known


class _Refused(Exception):
    pass


class _Unclear(Exception):
    """A violation that a client may tolerate."""


class _Cut(_Refused):
    pass


def read(data, is_closed, method, decodes, packed=b""):
    """Returns the required reading of `data` as the response to a request with `method`.

    `is_closed` is whether the connection was closed in an orderly way after `data`. `packed` is the complete compressed
    body, or empty if the body is not compressed.
    """
    try:
        cursor = _Cursor(data)
        status, fields = _final_head(cursor)
        body = _body(status, fields, cursor, is_closed, method)
        return Reading(status=status, body=_decoded(fields, body, packed) if decodes else body)
    except _Refused as refusal:
        return Reading(refusal=str(refusal))
    except _Unclear:
        return Reading()


def decoded(status, fields, body, packed):
    """Returns the required reading of a response whose body was already read from another framing."""
    try:
        return Reading(status=status, body=_decoded(fields, body, packed))
    except _Refused as refusal:
        return Reading(refusal=str(refusal))
    except _Unclear:
        return Reading()


class _Cursor:
    """Reads bytes from the front without copying the rest, which is large in a flood."""

    def __init__(self, data):
        self.data, self.place = data, 0

    @property
    def left(self):
        return len(self.data) - self.place

    def line(self):
        """Returns the next line with its CR, if any, and without its LF."""
        end = self.data.find(b"\n", self.place)
        if end < 0:
            raise _Cut("the head, the chunks or the trailers are truncated")
        line, self.place = self.data[self.place : end], end + 1
        return line

    def field_line(self):
        line = self.line()
        return line[:-1] if line.endswith(b"\r") else line

    def take(self, count):
        taken = self.data[self.place : self.place + count]
        self.place += len(taken)
        return taken


def _final_head(cursor):
    while True:
        status, fields = _head(cursor)
        if status == 101:
            raise _Refused("the 101 is unsolicited")
        if status >= 200:
            return status, fields


def _head(cursor):
    line = cursor.field_line()
    lines = []
    while field := cursor.field_line():
        lines.append(field)
    status = _status(line)
    fields, is_odd = [], False
    for field in lines:
        if field[:1] in (b" ", b"\t"):
            # RFC 9112 §5.2: a client joins the line with the previous line or rejects the response.
            if not fields:
                is_odd = True
            else:
                fields[-1] = (fields[-1][0], (fields[-1][1] + b" " + field.strip(_BLANKS)).strip(_BLANKS))
            continue
        name, colon, value = field.partition(b":")
        if not colon or not name:
            is_odd = True
            continue
        if re.search(rb"[ \t\r]", name):
            raise _Refused("a field name contains or precedes whitespace")
        if b"\r" in value:
            raise _Refused("a value contains a bare CR")
        fields.append((name.lower(), value.strip(b" \t")))
    if is_odd:
        raise _Unclear()
    return status, fields


def _status(line):
    exact = re.fullmatch(rb"HTTP/1\.[01] ([0-9]{3})( [^\r]*)?", line)
    if not exact:
        if re.match(rb"HTTP/1\.[01][ \t]+[0-9]{3}([^0-9]|$)", line) and b"\r" not in line:
            raise _Unclear()
        raise _Refused("the response does not start with a valid status line")
    status = int(exact[1])
    if status < 100:
        raise _Refused("the status is less than 100")
    return status


def _body(status, fields, cursor, is_closed, method):
    lengths = [value for name, value in fields if name == b"content-length"]
    codings = [value for name, value in fields if name == b"transfer-encoding"]
    if method == "HEAD" or status in (204, 304):
        return b""
    if codings:
        if len(codings) > 1 or codings[0].lower() != b"chunked":
            raise _Refused("the transfer coding is %r" % codings)
        return _chunked(cursor)
    if lengths:
        if len(set(lengths)) > 1 or not re.fullmatch(rb"[0-9]+", lengths[0]):
            parts = [part.strip(_BLANKS) for value in lengths for part in value.split(b",")]
            if all(re.fullmatch(rb"[0-9]+", part) for part in parts) and len({int(part) for part in parts}) == 1:
                raise _Unclear()  # RFC 9110 §8.6: a client may accept a repeated identical length
            raise _Refused("the lengths are %r" % lengths[:3])
        length = int(lengths[0])
        if length >= 1 << 63:
            raise _Refused("the length is %d" % length)
        if cursor.left < length:
            raise _Cut("the body has only %d of %d bytes" % (cursor.left, length))
        return cursor.take(length)
    if not is_closed:
        raise _Cut("the body ends with the connection, which was not closed in an orderly way")
    return cursor.take(cursor.left)


def _chunked(cursor):
    pieces = []
    while True:
        line = cursor.line()
        if not re.fullmatch(rb"[0-9a-fA-F]{1,15}(;[^\r\n]*)?\r", line):
            raise _Unclear()
        size = int(line[:-1].split(b";")[0], 16)
        if size == 0:
            break
        pieces.append(cursor.take(size))
        end = cursor.take(2)
        if not b"\r\n".startswith(end):
            raise _Unclear()
        if len(end) < 2:
            raise _Cut("a chunk is truncated")
    while True:
        if cursor.left == 1 and cursor.data.endswith(b"\r"):
            raise _Unclear()  # only the last LF is missing
        if not cursor.field_line():
            return b"".join(pieces)


def _decoded(fields, body, packed):
    codings = [part.strip(_BLANKS) for name, value in fields if name == b"content-encoding" for part in value.split(b",")]
    codings = [coding.lower().decode("latin-1") for coding in codings if coding not in (b"", b"identity")]
    if not codings or not body:
        return body
    if len(codings) > 1 or codings[0] not in ("gzip", "x-gzip", "deflate", "br", "zstd"):
        raise _Unclear()
    try:
        return packing.unpack(codings[0], body)
    except packing.Cut:
        raise _Cut("the compressed body is truncated") from None
    except packing.Damaged:
        is_cut = len(body) < len(packed) and packed.startswith(body)
        raise _Refused("the compressed body is %s" % ("truncated" if is_cut else "damaged")) from None
