"""One byte stream out of a packed file, counted and bounded while it comes: size, ratio, time."""

from __future__ import annotations

import bz2
import lzma
import zlib
from collections.abc import Callable
from typing import IO, Protocol

BLOCK = 256 * 1024
WINDOW = 2**27
"""Bytes of memory that unpacking may take: zstd's own default for a receiver."""


class Bad(Exception):
    """What is wrong with an archive; `remedy` is a key of what to do about it."""

    def __init__(self, remedy: str, what: str) -> None:
        super().__init__(what)
        self.remedy = remedy
        self.what = what


class Caps(Protocol):
    """The limits that matter here."""

    @property
    def total(self) -> int: ...
    @property
    def ratio(self) -> int: ...
    @property
    def grace(self) -> int: ...
    @property
    def seconds(self) -> float: ...


def kind_of(magic: bytes) -> str:
    """gz, zst, xz, bz2, zip, tar by the first bytes; "" for anything else."""
    for begin, kind in ((b"\x1f\x8b", "gz"), (b"\x28\xb5\x2f\xfd", "zst"), (b"\xfd7zXZ\0", "xz"), (b"BZh", "bz2"), (b"PK\x03\x04", "zip"), (b"PK\x05\x06", "zip")):
        if magic.startswith(begin):
            return kind
    return "tar" if len(magic) >= 512 and (magic[257:262] == b"ustar" or _looks_like_v7(magic)) else ""


def _looks_like_v7(magic: bytes) -> bool:
    """A header of the oldest tar has no magic: its checksum tells."""
    try:
        told = int(magic[148:156].strip(b" \0") or b"x", 8)
    except ValueError:
        return False
    return told == sum(magic[:148]) + 8 * 32 + sum(magic[156:512])


class Inflated:
    """`read(n)` gives exactly n bytes, or raises `Bad` where they cannot be had within the caps."""

    def __init__(self, file: IO[bytes], kind: str, caps: Caps, clock: Callable[[], float], deadline: float) -> None:
        self._file, self._kind, self._caps, self._clock, self._deadline = file, kind, caps, clock, deadline
        self._ready = b""
        self._taken = 0
        self._made = 0
        self._over = False
        self._unpacker = _unpacker(kind, file)

    def read(self, size: int) -> bytes:
        while len(self._ready) < size:
            if not self._more():
                raise Bad("damaged", "ends in the middle of a member")
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def read_or_end(self, size: int) -> bytes:
        """The same, but b"" at the very end."""
        while len(self._ready) < size:
            if not self._more():
                if self._ready:
                    raise Bad("damaged", "ends in the middle of a member")
                return b""
        return self.read(size)

    def _more(self) -> bool:
        if self._over:
            return False
        if self._clock() > self._deadline:
            raise Bad("large", f"takes longer than {self._caps.seconds:.0f} s to read")
        try:
            data = self._next()
        except (zlib.error, lzma.LZMAError, EOFError, OSError, ValueError, MemoryError) as problem:
            raise Bad("damaged", f"cannot be unpacked ({problem})") from None
        except Exception as problem:  # noqa: BLE001  zstandard has an error class of its own
            raise Bad("damaged", f"cannot be unpacked ({problem})") from None
        if not data:
            self._over = True
            return False
        self._made += len(data)
        if self._made > self._caps.total:
            raise Bad("large", f"unpacks to more than {self._caps.total // 2**20} MiB")
        if self._made > self._caps.grace and self._made > self._caps.ratio * max(self._taken, 1):
            raise Bad("hostile", f"unpacks to more than {self._caps.ratio} times its size")
        self._ready += data
        return True

    def _next(self) -> bytes:
        """The next piece, at most `BLOCK` bytes; b"" at the end."""
        while True:
            data = self._unpacker.take(BLOCK)
            if self._kind == "zst":
                self._taken = self._file.tell()
                return data
            if data:
                return data
            packed = self._file.read(BLOCK)
            if not packed:
                return self._unpacker.finish()
            self._taken += len(packed)
            self._unpacker.feed(packed)


class _Unpacker(Protocol):
    def feed(self, packed: bytes) -> None: ...
    def take(self, size: int) -> bytes: ...
    def finish(self) -> bytes: ...


class _Plain:
    def __init__(self) -> None:
        self._held = b""

    def feed(self, packed: bytes) -> None:
        self._held += packed

    def take(self, size: int) -> bytes:
        data, self._held = self._held[:size], self._held[size:]
        return data

    def finish(self) -> bytes:
        return b""


class _Gzip:
    """Members one after another, as `cat a.gz b.gz` makes them; zeros behind them are padding."""

    def __init__(self) -> None:
        self._unpack = zlib.decompressobj(wbits=31)
        self._held = b""
        self._begun = False

    def feed(self, packed: bytes) -> None:
        self._held += packed

    def take(self, size: int) -> bytes:
        while self._held:
            if self._unpack.eof:
                self._held = self._held.lstrip(b"\0")
                if not self._held.startswith(b"\x1f"):
                    self._held = b""  # something behind the archive: nobody's business
                    return b""
                self._unpack = zlib.decompressobj(wbits=31)
            self._begun = True
            data = self._unpack.decompress(self._held, size)
            self._held = self._unpack.unconsumed_tail or self._unpack.unused_data
            if data:
                return data
        return b""

    def finish(self) -> bytes:
        if self._begun and not self._unpack.eof:
            raise EOFError("it ends too early")
        return b""


class _Whole:
    """xz and bz2: one stream each time."""

    def __init__(self, make: Callable[[], lzma.LZMADecompressor | bz2.BZ2Decompressor]) -> None:
        self._make = make
        self._unpack = make()
        self._held = b""
        self._begun = False

    def feed(self, packed: bytes) -> None:
        self._held += packed

    def take(self, size: int) -> bytes:
        while True:
            if self._unpack.eof:
                self._held = (self._unpack.unused_data + self._held).lstrip(b"\0")
                if not self._held:
                    return b""
                self._unpack = self._make()
            if self._unpack.needs_input and not self._held:
                return b""
            self._begun = True
            held, self._held = self._held, b""
            data = self._unpack.decompress(held, size)
            if data:
                return data

    def finish(self) -> bytes:
        if self._begun and not self._unpack.eof:
            raise EOFError("it ends too early")
        return b""


class _Zstd:
    """Reads the file itself, since zstandard's reader takes an empty piece for the end."""

    def __init__(self, file: IO[bytes]) -> None:
        import zstandard

        self._reader = zstandard.ZstdDecompressor(max_window_size=WINDOW).stream_reader(file, read_size=BLOCK, read_across_frames=True)

    def feed(self, packed: bytes) -> None:
        raise NotImplementedError

    def take(self, size: int) -> bytes:
        return self._reader.read(size)

    def finish(self) -> bytes:
        return b""


def _unpacker(kind: str, file: IO[bytes]) -> _Unpacker:
    if kind == "gz":
        return _Gzip()
    if kind == "xz":
        return _Whole(lambda: lzma.LZMADecompressor(memlimit=WINDOW))
    if kind == "bz2":
        return _Whole(bz2.BZ2Decompressor)
    return _Zstd(file) if kind == "zst" else _Plain()


__all__ = ["BLOCK", "Bad", "Inflated", "kind_of"]
