"""Modes and owners that a transcript tells."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from doctor.host import FileInfo, Output
from doctor.host.listings import listed_rights, permission_bits
from doctor.host.plain import PlainHost


def rights(command: str, text: str) -> list[tuple[str, int, str, str]]:
    return list(listed_rights(Output(tuple(command.split()), 0, text)))


@pytest.mark.parametrize(
    ("command", "text", "wanted"),
    [
        ("ls -l /dev/davinci0", "crw-rw---- 1 HwHiAiUser HwHiAiUser 236, 0 Nov 28 08:00 /dev/davinci0\n", ("/dev/davinci0", 0o660, "HwHiAiUser", "HwHiAiUser")),
        ("ls -ld /usr/local/Ascend", "drwxr-x--- 9 root root 4096 Nov 28  2025 /usr/local/Ascend\n", ("/usr/local/Ascend", 0o750, "root", "root")),
        ("ls -l /data/m", "total 8\n-rw------- 1 1000 1000 500 2026-11-28 08:00 config.json\n", ("/data/m/config.json", 0o600, "1000", "1000")),
        ("ls -lR /data", "/data/m:\ntotal 8\n-rw-r--r-- 1 root root 5 11月 28 08:00 a\n", ("/data/m/a", 0o644, "root", "root")),
        ("stat /dev/davinci0", "  File: /dev/davinci0\n  Size: 0\nAccess: (0660/crw-rw----)  Uid: ( 1000/ x)   Gid: ( 1000/ x)\n", ("/dev/davinci0", 0o660, "1000", "1000")),
    ],
)
def test_rows(command: str, text: str, wanted: tuple[str, int, str, str]) -> None:
    assert rights(command, text) == [wanted]


def test_links_and_other_commands_tell_nothing() -> None:
    assert rights("ls -l /a", "lrwxrwxrwx 1 root root 3 Nov 28 08:00 /a -> b\n") == []
    assert rights("cat /a", "crw-rw---- 1 root root 236, 0 Nov 28 08:00 /dev/davinci0\n") == []


def test_a_recorded_host_has_the_modes_of_its_listings(tmp_path: Path) -> None:
    (tmp_path / "files/etc").mkdir(parents=True)
    (tmp_path / "files/dev").mkdir()
    (tmp_path / "files/etc/passwd").write_text("HwHiAiUser:x:1000:1000::/home:/bin/sh\n")
    (tmp_path / "files/etc/group").write_text("HwHiAiUser:x:1000:\n")
    (tmp_path / "files/dev/davinci0").write_text("")
    (tmp_path / "commands.txt").write_text("$ ls -l /dev/davinci0\ncrw-rw---- 1 HwHiAiUser HwHiAiUser 236, 0 Nov 28 08:00 /dev/davinci0\n[exit 0]\n")
    info = PlainHost(tmp_path).stat("/dev/davinci0")
    assert isinstance(info, FileInfo) and (info.mode, info.uid, info.gid) == (0o660, 1000, 1000)


def test_bits() -> None:
    assert permission_bits("drwsr-xr-t") == 0o755 and permission_bits("-rwSr--r-T") == 0o644


@given(st.text(max_size=200))
def test_no_text_makes_it_raise(text: str) -> None:
    assert isinstance(rights("ls -l /a /b", text), list) and isinstance(rights("stat /a", text), list)
