"""Compresses and decompresses bodies with gzip, deflate and, if the libraries are installed, br and zstd."""

import ctypes
import zlib


def _library(name):
    try:
        return ctypes.CDLL(name)
    except OSError:
        return None


_brotli, _unbrotli, _zstd = (_library(n) for n in ("libbrotlienc.so.1", "libbrotlidec.so.1", "libzstd.so.1"))
CODINGS = ["gzip", "deflate"] + (["br"] if _brotli and _unbrotli else []) + (["zstd"] if _zstd else [])
_ROOM = 1 << 20


class Cut(Exception):
    """The compressed data is truncated."""


class Damaged(Exception):
    """The compressed data is invalid or followed by other bytes."""


def pack(coding, plain):
    if coding == "gzip":
        packer = zlib.compressobj(6, zlib.DEFLATED, 31)
        return packer.compress(plain) + packer.flush()
    if coding == "deflate":
        return zlib.compress(plain)
    room = ctypes.create_string_buffer(len(plain) + 1024)
    size = ctypes.c_size_t(len(room))
    if coding == "br":
        _brotli.BrotliEncoderCompress(
            5, 22, 0, ctypes.c_size_t(len(plain)), plain, ctypes.byref(size), room)
        return room.raw[: size.value]
    compress = _zstd.ZSTD_compress
    compress.restype = ctypes.c_size_t
    size = compress(room, size, plain, ctypes.c_size_t(len(plain)), 3)
    return room.raw[:size]


def unpack(coding, packed):
    """Returns the decompressed bytes. Raises Cut or Damaged."""
    if coding in ("gzip", "x-gzip"):
        return _members(packed)
    if coding == "deflate":
        return _inflate(packed)
    size = ctypes.c_size_t(_ROOM)
    room = ctypes.create_string_buffer(_ROOM)
    if coding == "br" and _unbrotli:
        done = _unbrotli.BrotliDecoderDecompress(ctypes.c_size_t(len(packed)), packed, ctypes.byref(size), room)
        if done != 1:
            raise Damaged()
        return room.raw[: size.value]
    if coding == "zstd" and _zstd:
        decompress = _zstd.ZSTD_decompress
        decompress.restype = ctypes.c_size_t
        size = decompress(room, ctypes.c_size_t(_ROOM), packed, ctypes.c_size_t(len(packed)))
        if _zstd.ZSTD_isError(ctypes.c_size_t(size)):
            raise Damaged()
        return room.raw[:size]
    raise Damaged()


def _members(packed):
    """Decompresses gzip, which can have several members (RFC 1952 §2.2)."""
    plain = b""
    while True:
        member = zlib.decompressobj(31)
        try:
            plain += member.decompress(packed)
        except zlib.error:
            raise Damaged() from None
        if not member.eof:
            raise Cut()
        if not member.unused_data:
            return plain
        packed = member.unused_data


def _inflate(packed):
    """Decompresses deflate, which some servers send without the zlib wrapper (RFC 9110 §8.4.1.2)."""
    for window in (15, -15):
        stream = zlib.decompressobj(window)
        try:
            plain = stream.decompress(packed)
        except zlib.error:
            continue
        if not stream.eof:
            raise Cut()
        if stream.unused_data:
            raise Damaged()
        return plain
    raise Damaged()
