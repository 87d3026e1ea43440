"""Who sets a sysctl, and who wins after a reboot: the order of sysctl.d(5) and of `sysctl --system`, and everything that comes after them.

Contract: `order` reads through the `Host` only and takes the plan's own file into account as if it were there already.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator
from dataclasses import dataclass

from doctor.apply import tuners
from doctor.facts.kernel import SYSCTL_FOLDERS, dotted
from doctor.host import KIB, FileInfo, Host, Unavailable

CONF = "/etc/sysctl.conf"
_MOST_FILES = 400


@dataclass(frozen=True)
class Setter:
    """One place that sets the key. `glob`: by a pattern, which any line that names the key outdoes."""

    source: str
    value: str
    line: int = 0
    glob: bool = False


@dataclass(frozen=True)
class Order:
    """Who sets the key, in the order in which each program applies them; the last wins.

    `systemd` is what systemd-sysctl does at boot, `procps` what `sysctl --system` does, `later` what comes after both and overrides them,
    `perhaps` what may set it at any time. `masked`: nothing applies sysctl.d at boot. `with_systemd`: this machine boots with systemd.
    """

    systemd: tuple[Setter, ...]
    procps: tuple[Setter, ...]
    later: tuple[Setter, ...] = ()
    yielding: tuple[Setter, ...] = ()
    """Daemons that set it and then give way to sysctl.d (tuned by default)."""
    perhaps: tuple[Setter, ...] = ()
    masked: bool = False
    with_systemd: bool = True

    @property
    def boot(self) -> Setter | None:
        """Who wins after a reboot."""
        if self.later:
            return self.later[-1]
        if self.with_systemd:
            return winner(self.systemd) if not self.masked else None
        return winner(self.procps)

    @property
    def reload(self) -> Setter | None:
        """Who wins when somebody runs `sysctl --system`."""
        return winner(self.procps)


def winner(setters: tuple[Setter, ...]) -> Setter | None:
    """The last that names the key, else the last pattern."""
    named = [setter for setter in setters if not setter.glob]
    return named[-1] if named else setters[-1] if setters else None


def order(host: Host, key: str, own: str = "", content: str = "") -> Order:
    """Everyone who sets the key; `own` is a file that will be there with that content."""
    files = sysctl_files(host, own)
    # systemd reads sysctl.conf only where a link in sysctl.d leads there, and then in that link's place.
    by_systemd = tuple(setter for path in files for setter in _setters(host, key, path, own, content))
    by_procps = (*by_systemd, *_setters(host, key, CONF, own, content))
    active = tuners.tuned(host)
    told = [(path, value) for path, name, value in tuners.tuned_settings(host, active.profiles, "sysctl") if dotted(name) == key] if active else []
    tuned = tuple(Setter(f"tuned ({path})", value) for path, value in told)
    later = tuple(Setter(path, value) for path, value in tuners.scripted_sysctls(host, key))
    ufw = tuners.ufw_sysctls(host)
    later = (*(() if active and active.reapplies else tuned), *(_setters(host, key, ufw, "", "") if ufw else ()), *later)
    perhaps = tuple(Setter(f"A-Tune ({path})", value) for path, name, value in tuners.atune_settings(host, "sysctl") if dotted(name) == key)
    return Order(by_systemd, by_procps, later, tuned if active and active.reapplies else (), perhaps, _masked(host), _systemd(host))


def sysctl_files(host: Host, own: str = "") -> tuple[str, ...]:
    """The files of sysctl.d as systemd-sysctl reads them: sorted by name, one of a name, those that are masked left out."""
    by_name: dict[str, str] = {}
    for folder in SYSCTL_FOLDERS:
        found = host.list(f"{folder}/*.conf")
        for path in () if isinstance(found, Unavailable) else found:
            by_name.setdefault(path.rpartition("/")[2], path)
    if own:
        by_name[own.rpartition("/")[2]] = own
    return tuple(path for _, path in sorted(by_name.items())[:_MOST_FILES] if path == own or not _is_masked(host.stat(path)))


def _is_masked(info: FileInfo | Unavailable) -> bool:
    return not isinstance(info, Unavailable) and info.target == "/dev/null"


def _setters(host: Host, key: str, path: str, own: str, content: str) -> Iterator[Setter]:
    found = content if path == own else host.read(path, 256 * KIB)
    for number, line in enumerate(found.splitlines() if isinstance(found, str) else (), 1):
        name, equals, value = line.strip().partition("=")
        name = name.strip().removeprefix("-").strip()
        if not equals or not name or name[0] in "#;":
            continue
        told = dotted(name)
        if told == key:
            yield Setter(path, " ".join(value.split()), number)
        elif any(sign in told for sign in "*?[") and fnmatch.fnmatchcase(key, told):
            yield Setter(path, " ".join(value.split()), number, glob=True)


def _masked(host: Host) -> bool:
    return _is_masked(host.stat("/etc/systemd/system/systemd-sysctl.service"))


def _systemd(host: Host) -> bool:
    """Whether this machine boots with systemd."""
    return any(not isinstance(host.stat(path), Unavailable) for path in ("/run/systemd/system", "/usr/lib/systemd/systemd-sysctl", "/lib/systemd/systemd-sysctl", "/etc/systemd/system"))


__all__ = ["CONF", "Order", "Setter", "order", "sysctl_files", "winner"]
