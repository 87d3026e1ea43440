"""Files below a root that others may try to lead elsewhere: what is refused, and what is kept when a file is replaced."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from doctor.apply.rootfiles import FileState, RootFiles, UnsafePath
from tests.apply.trees import make_root

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="needs a second owner")


def put(files: RootFiles, path: str, text: str = "new\n") -> None:
    files.replace(FileState(path, text.encode(), 0o644, os.geteuid(), os.getegid()), ".ascend-doctor-x")


def test_mode_owner_and_attributes_are_kept(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/a.conf": "old\n"})
    os.chmod(root / "etc/a.conf", 0o640)
    if os.geteuid() == 0:
        os.chown(root / "etc/a.conf", 12, 34)
    try:
        os.setxattr(root / "etc/a.conf", "user.label", b"etc_t")
        labelled = True
    except OSError:  # a file system without them
        labelled = False
    files = RootFiles(str(root))
    state = files.read("/etc/a.conf")
    assert state is not None
    files.replace(FileState(state.path, b"new\n", state.mode, state.uid, state.gid, state.attributes), ".ascend-doctor-x")
    info = (root / "etc/a.conf").stat()
    assert (root / "etc/a.conf").read_text() == "new\n" and info.st_mode & 0o7777 == 0o640
    assert (info.st_uid, info.st_gid) == (state.uid, state.gid)
    assert not labelled or os.getxattr(root / "etc/a.conf", "user.label") == b"etc_t"
    assert os.listdir(root / "etc") and ".ascend-doctor-x" not in os.listdir(root / "etc")


def test_a_selinux_label_is_set_on_the_new_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel of the tests has no SELinux: what is asked of it is seen instead."""
    root, asked = make_root(tmp_path), []
    monkeypatch.setattr(os, "setxattr", lambda descriptor, name, value: asked.append((name, value)))
    state = FileState("/etc/a.conf", b"x", 0o644, os.geteuid(), os.getegid(), {"security.selinux": b"system_u:object_r:etc_t:s0\0"})
    RootFiles(str(root)).replace(state, ".t")
    assert asked == [("security.selinux", b"system_u:object_r:etc_t:s0\0")]


def test_a_link_is_followed_inside_the_root_and_stays_a_link(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/real.conf": "old\n", "/etc/sub/link.conf": "-> /etc/real.conf"})
    files = RootFiles(str(root))
    state = files.read("/etc/sub/link.conf")
    assert state is not None and state.path == "/etc/real.conf"
    put(files, "/etc/sub/link.conf")
    assert (root / "etc/real.conf").read_text() == "new\n" and (root / "etc/sub/link.conf").is_symlink()


def test_links_that_lead_out_end_at_the_root(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    root = make_root(tmp_path / "root", {"/etc/evil": "-> ../../../../../outside"})
    files = RootFiles(str(root))
    with pytest.raises(FileNotFoundError):
        put(files, "/etc/evil/a.conf")
    assert not list((tmp_path / "outside").iterdir())


@pytest.mark.parametrize("mode", [0o777, 0o1777, 0o757])
def test_a_folder_that_others_may_write_in_is_refused(tmp_path: Path, mode: int) -> None:
    root = make_root(tmp_path, {"/srv/a.conf": "old\n"})
    os.chmod(root / "srv", mode)
    with pytest.raises(UnsafePath, match="writable"):
        put(RootFiles(str(root)), "/srv/a.conf")
    with pytest.raises(UnsafePath, match="writable"):
        RootFiles(str(root)).make_folder("/srv/more")
    assert (root / "srv/a.conf").read_text() == "old\n"


@ROOT_ONLY
def test_a_folder_or_a_link_of_another_user_is_refused(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/srv/a.conf": "old\n", "/etc/link": "-> /srv"})
    os.chown(root / "srv", 1000, 1000)
    os.lchown(root / "etc/link", 1000, 1000)
    for path in ("/srv/a.conf", "/etc/link/a.conf"):
        with pytest.raises(UnsafePath, match="another user"):
            put(RootFiles(str(root)), path)


def test_what_is_no_regular_file_or_has_two_names_is_refused(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/a.conf": "old\n"})
    os.link(root / "etc/a.conf", root / "etc/b.conf")
    os.mkfifo(root / "etc/pipe")
    files = RootFiles(str(root))
    for path, why in (("/etc/a.conf", "hard links"), ("/etc/pipe", "regular"), ("etc/a.conf", "absolute"), ("/etc/..", "folder")):
        with pytest.raises((UnsafePath, IsADirectoryError), match=why):
            files.read(path)


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/a": "-> b", "/etc/b": "-> a"})
    with pytest.raises(OSError, match="(?i)symbolic links"):
        RootFiles(str(root)).read("/etc/a")


def test_a_folder_exchanged_for_a_link_again_and_again_never_leads_out(tmp_path: Path) -> None:
    """Somebody exchanges the folder for a link to a folder outside, as fast as they can, while files are written."""
    (tmp_path / "outside").mkdir()
    root = make_root(tmp_path / "root", {"/srv/x/keep": ""})
    os.symlink(tmp_path / "outside", root / "srv/evil")
    stop = threading.Event()

    def exchange() -> None:
        while not stop.is_set():
            for one, other in (("x", "y"), ("evil", "x"), ("x", "evil"), ("y", "x")):
                os.rename(root / "srv" / one, root / "srv" / other)

    thread = threading.Thread(target=exchange)
    thread.start()
    files = RootFiles(str(root))
    try:
        for _ in range(300):
            try:
                put(files, "/srv/x/a.conf")
            except (OSError, UnsafePath):
                continue
    finally:
        stop.set()
        thread.join()
    assert not list((tmp_path / "outside").iterdir())


FULL = """
import errno, os, sys
from doctor.apply.rootfiles import FileState, RootFiles
files = RootFiles(sys.argv[1])
files.make_folder("/etc")
state = FileState("/etc/a.conf", b"old", 0o644, os.geteuid(), os.getegid())
files.replace(state, ".t")
try:
    files.replace(FileState("/etc/a.conf", b"x" * 300000, 0o644, os.geteuid(), os.getegid()), ".t")
except OSError as problem:
    assert problem.errno == errno.ENOSPC, problem
else:
    raise SystemExit("it fitted")
kept = files.read("/etc/a.conf")
assert kept is not None and kept.data == b"old" and os.listdir(sys.argv[1] + "/etc") == ["a.conf"]
print("kept")
"""


def test_a_disk_that_is_full_keeps_the_old_file(tmp_path: Path) -> None:
    mount = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", 'mount -t tmpfs -o size=128k,mode=0755 none "$1" && shift && exec "$@"', "sh", str(tmp_path)]
    try:
        if subprocess.run([*mount, "true"], capture_output=True, timeout=60, check=False).returncode:
            pytest.skip("this kernel allows no mounts here")
    except FileNotFoundError:
        pytest.skip("there is no unshare")
    top = Path(__file__).parents[2]
    argv = [*mount, sys.executable, "-c", FULL, str(tmp_path)]
    ran = subprocess.run(argv, env={**os.environ, "PYTHONPATH": str(top)}, capture_output=True, text=True, timeout=120, check=False)
    assert ran.stdout == "kept\n", ran.stderr
