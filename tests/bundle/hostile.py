"""Archives that nobody should send: each builder gives the bytes of one, and what its error must say."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import zstandard

GOOD = {"manifest.json": b'{"schema_version": 1, "tool": "ascend-doctor", "host": "h", "time": "2026-11-30T00:00:00+00:00"}', "records.jsonl": b""}


@dataclass(frozen=True)
class Hostile:
    """`says` is a part of the error; `slow` ticks of the clock that every look at it takes."""

    name: str
    data: bytes
    says: str


def header(name: bytes, size: int = 0, kind: bytes = b"0", link: bytes = b"", prefix: bytes = b"", size_field: bytes | None = None) -> bytes:
    """A ustar header with a right checksum, whatever it claims."""
    field = size_field or b"%011o\0" % size
    block = name.ljust(100, b"\0") + b"0000600\0" + b"0000000\0" * 2 + field + b"%011o\0" % 0 + b" " * 8 + kind + link.ljust(100, b"\0") + b"ustar\x0000"
    block = (block + b"\0" * 64 + b"0000000\0" * 2 + prefix.ljust(155, b"\0")).ljust(512, b"\0")
    return block[:148] + b"%06o\0 " % sum(block) + block[156:]


def member(name: bytes, data: bytes = b"", **given: bytes) -> bytes:
    return header(name, len(data), **given) + data.ljust(-(-len(data) // 512) * 512, b"\0")


END = bytes(1024)


def plain(extra: bytes = b"", files: dict[str, bytes] | None = None) -> bytes:
    """A tar with the parts of a bundle and something more."""
    return b"".join(member(name.encode(), data) for name, data in (GOOD if files is None else files).items()) + extra + END


def pax(records: bytes, kind: bytes = b"x") -> bytes:
    return member(b"pax", records, kind=kind)


def record(key: bytes, value: bytes) -> bytes:
    length = len(key) + len(value) + 3
    while len(b"%d" % length) + len(key) + len(value) + 3 != length:
        length = len(b"%d" % length) + len(key) + len(value) + 3
    return b"%d %s=%s\n" % (length, key, value)


def zipped(change: Callable[[zipfile.ZipFile], None]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in GOOD.items():
            archive.writestr(name, data)
        change(archive)
    return file.getvalue()


def _zip_entry(name: str, data: bytes = b"x", mode: int = 0o100600) -> bytes:
    def change(archive: zipfile.ZipFile) -> None:
        info = zipfile.ZipInfo(name)
        info.external_attr = mode << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        archive.writestr(info, data)

    return zipped(change)


def _twice(archive: zipfile.ZipFile) -> None:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("records.jsonl", b"other")


def _patched(data: bytes, mark: bytes, offset: int, new: bytes) -> bytes:
    at = data.index(mark) + offset
    return data[:at] + new + data[at + len(new) :]


def _encrypted() -> bytes:
    data = _zip_entry("a")
    data = _patched(data, b"PK\x03\x04", 6, b"\1")
    return _patched(data, b"PK\x01\x02", 8, b"\1")


def _lying_zip() -> bytes:
    """Its directory says that the file is smaller than it is."""
    data = _zip_entry("a", b"y" * 5000)
    at = data.rindex(b"PK\x01\x02")
    return data[: at + 24] + b"\x10\0\0\0" + data[at + 28 :]


def _gz_zeros(megabytes: int) -> bytes:
    """A gzip member of that many zeros, deflated twice as small as it can be."""
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", mtime=0) as packed:
        packed.write(header(b"big", megabytes * 2**20))
        for _ in range(megabytes):
            packed.write(bytes(2**20))
        packed.write(END)
    return out.getvalue()


def archives() -> Iterator[Hostile]:
    """More than forty."""
    yield Hostile("traversal", plain(member(b"../evil", b"x")), "leads out")
    yield Hostile("traversal inside", plain(member(b"a/../../evil", b"x")), "leads out")
    yield Hostile("traversal by prefix", plain(member(b"evil", b"x", prefix=b"..")), "leads out")
    yield Hostile("traversal by pax path", plain(pax(record(b"path", b"../../etc/cron.d/x")) + member(b"a", b"x")), "leads out")
    yield Hostile("traversal by long name", plain(member(b"././@LongLink", b"../" * 60 + b"evil\0", kind=b"L") + member(b"a", b"x")), "leads out")
    yield Hostile("absolute", plain(member(b"/etc/passwd", b"x")), "absolute")
    yield Hostile("drive letter", plain(member(b"C:/windows/x", b"x")), "absolute")
    yield Hostile("backslash", plain(member(b"..\\..\\evil", b"x")), "backslashes")
    yield Hostile("newline in a name", plain(member(b"a\nb", b"x")), "control characters")
    yield Hostile("escape sequence in a name", plain(member(b"\x1b[2Jb", b"x")), "control characters")
    yield Hostile("NUL by pax", plain(pax(record(b"path", b"a\0b")) + member(b"a", b"x")), "control characters")
    yield Hostile("symbolic link", plain(member(b"files", kind=b"2", link=b"/etc") + member(b"files/passwd", b"x")), "as a file or link and as a folder")
    yield Hostile("link in a bundle", plain(member(b"processes.json", kind=b"2", link=b"/etc/shadow")), "links or devices")
    yield Hostile("hard link", plain(member(b"report.json", kind=b"1", link=b"/etc/shadow")), "links or devices")
    yield Hostile("character device", plain(member(b"dev", kind=b"3")), "links or devices")
    yield Hostile("block device", plain(member(b"dev", kind=b"4")), "links or devices")
    yield Hostile("fifo", plain(member(b"pipe", kind=b"6")), "links or devices")
    yield Hostile("sparse file", plain(header(b"sparse", 0, b"S")), "sparse")
    yield Hostile("sparse by pax", plain(pax(record(b"GNU.sparse.major", b"1") + record(b"GNU.sparse.realsize", b"99999999999")) + member(b"a", b"x")), "sparse")
    yield Hostile("unknown kind", plain(member(b"a", kind=b"Z")), "unknown kind")
    yield Hostile("the same name twice", plain(member(b"records.jsonl", b"other")), "twice")
    yield Hostile("names that differ in case", plain(member(b"Records.jsonl", b"other")), "only in case")
    yield Hostile("names that differ in accents", plain(member("\u00e9".encode(), b"1") + member("e\u0301".encode(), b"2")), "only in case")
    yield Hostile("a file that is a folder", plain(member(b"a", b"1") + member(b"a/b", b"2")), "as a file or link and as a folder")
    yield Hostile("deep nesting", plain(member(b"a/" * 49 + b"b", b"x")), "nested deeper")
    yield Hostile("long name", plain(pax(record(b"path", b"n" * 300)) + member(b"a", b"x")), "too long")
    yield Hostile("long path", plain(pax(record(b"path", b"abcdefgh/" * 125)) + member(b"a", b"x")), "too long")
    yield Hostile("too many members", plain(b"".join(header(b"%d" % number) for number in range(20_050))), "more than 20000")
    yield Hostile("endless extended headers", plain(pax(record(b"comment", b"x")) * 20 + member(b"a", b"x")), "longer than any name")
    yield Hostile("huge extended header", plain(header(b"pax", 10**9, b"x")), "longer than any name")
    yield Hostile("huge long name", plain(header(b"long", 10**8, b"L")), "longer than any name")
    yield Hostile("garbage in an extended header", plain(pax(b"no record at all") + member(b"a", b"x")), "extended header")
    yield Hostile("size of 8 EiB", plain(header(b"a", size_field=b"\x80" + b"\x7f" * 11)), "impossible size")
    yield Hostile("negative size", plain(header(b"a", size_field=b"\xff" * 12)), "impossible size")
    yield Hostile("size by pax that is no number", plain(pax(record(b"size", b"-1")) + member(b"a", b"x")), "impossible size")
    yield Hostile("size that is no octal", plain(header(b"a", size_field=b"9zzzzzzzzzz\0")), "no number")
    yield Hostile("larger than a member may be", plain(header(b"a", 2**31 - 1)), "more than 64 MiB")
    yield Hostile("a folder with a size", plain(header(b"a/", 2**32, b"5")), "with a size")
    yield Hostile("wrong checksum", plain(b"\1" + header(b"a")[1:]), "checksum")
    yield Hostile("lying header: less than it says", plain()[: -len(END)] + header(b"a", 50_000) + b"short", "middle of a member")
    yield Hostile("truncated", plain()[:1300], "middle of a member")
    yield Hostile("without its end", plain()[: -len(END)], "without the end")
    yield Hostile("truncated gzip", gzip.compress(plain(member(b"a", bytes(range(256)) * 40)))[:-40], "cannot be unpacked")
    yield Hostile("gzip with a wrong checksum", _patched(gzip.compress(plain(), mtime=0), b"\x1f\x8b", len(gzip.compress(plain(), mtime=0)) - 8, b"\0\0\0\0"), "cannot be unpacked")
    yield Hostile("truncated zstd", zstandard.compress(plain(member(b"a", bytes(range(256)) * 400)))[:-60], "")
    yield Hostile("truncated xz", lzma.compress(plain(member(b"a", bytes(range(256)) * 40)))[:-120], "cannot be unpacked")
    yield Hostile("gzip bomb", _gz_zeros(60), "times its size")
    yield Hostile("zstd bomb", zstandard.compress(header(b"a", 60 * 2**20) + bytes(60 * 2**20) + END), "times its size")
    yield Hostile("xz bomb", lzma.compress(header(b"a", 60 * 2**20) + bytes(60 * 2**20) + END), "times its size")
    yield Hostile("bzip2 bomb", bz2.compress(header(b"a", 40 * 2**20) + bytes(40 * 2**20) + END), "times its size")
    yield Hostile("zstd with a window of 2 GiB", _wide_window(), "cannot be unpacked")
    yield Hostile("wrong type", b"%PDF-1.7\n" + b"x" * 5000, "no archive")
    yield Hostile("a log", b"(EngineCore_DP0 pid=1) ERROR 11-30 09:38:38 [core.py:710] boom\n" * 100, "doctor log")
    yield Hostile("empty", b"", "no archive")
    yield Hostile("nothing in it", END, "no archive")
    yield Hostile("gzip of nothing", gzip.compress(b""), "without the end")
    yield Hostile("an archive without a bundle", plain(files={"a": b"1", "b": b"2"}), "neither")
    yield Hostile("nested archive", plain(files={"bundle.tar.gz": gzip.compress(plain())}), "neither")
    yield Hostile("zip traversal", _zip_entry("../evil"), "leads out")
    yield Hostile("zip absolute", _zip_entry("/etc/passwd"), "absolute")
    yield Hostile("zip link", _zip_entry("processes.json", b"/etc/shadow", 0o120777), "links or devices")
    yield Hostile("zip bomb", _zip_entry("a", bytes(50 * 2**20)), "times its size")
    yield Hostile("zip with a name twice", zipped(_twice), "twice")
    yield Hostile("zip encrypted", _encrypted(), "encrypted")
    yield Hostile("zip that lies about a size", _lying_zip(), "")
    yield Hostile("zip cut off", zipped(lambda archive: None)[:-30], "zip file")
    yield Hostile("zip with a huge directory", _patched(zipped(lambda archive: None), b"PK\x05\x06", 10, b"\xff\xfe"), "more than")


def _wide_window() -> bytes:
    """A frame whose header asks the reader for 2 GiB of memory."""
    return b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"


def sound(kind: str) -> bytes:
    """The same bundle, packed in one of the ways that are read."""
    pack: dict[str, Callable[[bytes], bytes]] = {
        "tar": lambda data: data, "tar.gz": gzip.compress, "tar.xz": lzma.compress, "tar.bz2": bz2.compress, "tar.zst": zstandard.compress,
    }  # fmt: skip
    return zipped(lambda archive: None) if kind == "zip" else pack[kind](plain())


def standard_tar(form: int) -> bytes:
    """What Python's own writer makes, long names included."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for name, data in {**GOOD, "files/" + "long/" * 25 + "name" * 20: b"long", "files/ümlaut": b"u"}.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return out.getvalue()
