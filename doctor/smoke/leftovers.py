"""What a run has left behind: processes, shared memory, ports, its folder, memory on the cards. Looked for after every step, and told.

Only what is surely ours is removed: a file in /dev/shm that appeared during the run, that one of the run's processes had mapped or open or that
carries the number of one in its name, and that no living process uses.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from doctor.smoke import tree

SHM = "/dev/shm"
HBM_SLACK_MB = 512
"""A card's memory may differ by so much after a run: the driver keeps some, and other cards' processes come and go."""


@dataclass(frozen=True)
class Leftovers:
    """`removed` is shared memory that libraries had left and that was freed; everything else is what is still there."""

    processes: tuple[str, ...] = ()
    shared_memory: tuple[str, ...] = ()
    ports: tuple[int, ...] = ()
    folder: str = ""
    card_memory: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    looked_at_cards: bool = False

    @property
    def clean(self) -> bool:
        return not (self.processes or self.shared_memory or self.ports or self.folder or self.card_memory)


class Ledger:
    """Keeps what the run's processes were seen to use."""

    def __init__(self, shm: str = SHM) -> None:
        self._shm = shm
        self._before = _files(shm)
        self._used: set[str] = set()
        self._pids: set[int] = set()
        self._processes: list[str] = []
        self._ports: set[int] = set()

    def seen(self, members: Sequence[tree.Member]) -> None:
        for member in members:
            self._pids.add(member.pid)
            self._used |= tree.mapped(member, self._shm + "/")

    def ended(self, left: Iterable[str], ports: Iterable[int]) -> None:
        """After a step: processes that could not be ended, ports it had."""
        self._processes += left
        self._ports.update(ports)

    def settle(self, folder: str, cards_before: Mapping[int, int], cards_after: Mapping[int, int] | None) -> Leftovers:
        """Frees what is surely ours and says what is left. Card memory in MB by card; None where it could not be read again."""
        removed, left = self._free_shared_memory()
        with contextlib.suppress(OSError):
            shutil.rmtree(folder)
        grown = [
            f"card {card}: {before} -> {(cards_after or {})[card]} MB"
            for card, before in sorted(cards_before.items())
            if card in (cards_after or {}) and (cards_after or {})[card] > before + HBM_SLACK_MB
        ]
        return Leftovers(
            tuple(self._processes), left, tuple(sorted(port for port in self._ports if _is_taken(port))), folder if os.path.exists(folder) else "",
            tuple(grown), removed, cards_after is not None and bool(cards_before),
        )  # fmt: skip

    def _free_shared_memory(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        appeared = _files(self._shm) - self._before
        ours = {path for path in appeared if path in self._used or self._pids & {int(number) for number in re.findall(r"\d{2,10}", path)}}
        if not ours:
            return (), ()
        busy = frozenset[str]().union(*(tree.mapped(member, self._shm + "/") for member in tree.everyone().values()))
        removed, left = [], []
        for path in sorted(ours):
            if path in busy:
                left.append(path)
                continue
            try:
                os.unlink(path)
                removed.append(path)
            except OSError:
                left.append(path)
        return tuple(removed), tuple(left)


def _files(folder: str) -> frozenset[str]:
    """Regular files of this user directly in the folder."""
    found = set()
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.is_file(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                    found.add(entry.path)
    return frozenset(found)


def _is_taken(port: int) -> bool:
    """Whether something still listens there."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", port)) == 0
