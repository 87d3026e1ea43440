"""Decides host-disk-full: ENOSPC in the log that is not about shared memory, and file systems that are full."""

from collections.abc import Iterator

from doctor.facts.machine import Disk, Disks
from doctor.finding import Basis, Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of

NEAR = 12
"""Lines: a traceback of shared memory names its module within so many."""

FULL = 16 * 2**20
"""Bytes that count as nothing left."""

_READ_ONLY = ("/snap", "/boot", "/media", "/run", "/sys", "/proc", "/cdrom")
_IMAGES = ("/dev/loop", "/dev/sr", "tmpfs", "devtmpfs", "shm", "udev", "squashfs")


def judge(disks: Disks | None, matches: Matches) -> Iterator[Hit]:
    if disks is None and not matches.looked:
        raise Skip("no file system is known, and no log was given")
    elsewhere = [match.ordinal for match in matches["elsewhere"]]
    lines = tuple(match for match in matches["full"] if not any(abs(match.ordinal - at) <= NEAR for at in elsewhere))
    if lines:
        yield Hit(found=lines[0].text[:300], evidence=(evidence_of(lines),), basis=Basis.LOG, position=lines[0].ordinal + 1)
    for disk in disks.by_mount.values() if disks is not None else ():
        if _full(disk):
            told = f"{disk.mount}: {disk.available // 2**20} MiB free of {disk.size // 2**30} GiB"
            yield Hit(
                subject=disk.mount if not lines else "",
                found=told,
                wanted="free space",
                evidence=(Evidence(disks.source if disks is not None else "df", told),),
                confidence=None if disk.mount in ("/", "/tmp", "/var", "/home", "/root") else Confidence.LIKELY,
            )


def _full(disk: Disk) -> bool:
    return (
        disk.size > 2**30
        and disk.available < FULL
        and not disk.mount.startswith(_READ_ONLY)
        and not disk.filesystem.startswith(_IMAGES)
        and disk.mount != "/dev/shm"
    )
