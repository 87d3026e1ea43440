"""Daemons and scripts beside sysctl.d that set kernel values: tuned, A-Tune, ufw, rc.local, units that call sysctl, the kernel's command line.

Contract: reads through the `Host` only. A daemon counts where its unit is enabled or it runs; what it would set is what its profile says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from doctor.host import KIB, Host, Unavailable

_LIMIT = 256 * KIB
_UNITS = "/etc/systemd/system"
_MOST = 64
_SECTION = re.compile(r"\[([^\]]{1,64})\]\Z")
TUNED_FOLDERS = ("/etc/tuned", "/etc/tuned/profiles", "/usr/lib/tuned", "/usr/lib/tuned/profiles")


@dataclass(frozen=True)
class Tuned:
    """tuned's active profiles. `reapplies`: it gives way to sysctl.d (its default)."""

    profiles: tuple[str, ...]
    reapplies: bool
    source: str = "/etc/tuned/active_profile"


def text(host: Host, path: str) -> str:
    found = host.read(path, _LIMIT)
    return found if isinstance(found, str) else ""


def enabled(host: Host, service: str) -> bool:
    """Whether the unit is started at boot: wanted by some target."""
    if (info := host.stat(f"{_UNITS}/{service}")) and not isinstance(info, Unavailable) and info.target == "/dev/null":
        return False
    found = host.list(f"{_UNITS}/*.wants/{service}")
    return not isinstance(found, Unavailable) and bool(found)


def tuned(host: Host) -> Tuned | None:
    """What tuned has active, None where it is not started at boot."""
    profiles = tuple(text(host, "/etc/tuned/active_profile").split()[:8])
    if not profiles or not enabled(host, "tuned.service"):
        return None
    main = dict(_assignments(text(host, "/etc/tuned/tuned-main.conf")).get("", ()))
    return Tuned(profiles, main.get("reapply_sysctl", "1").lower() not in ("0", "false", "no", "off"))


def tuned_settings(host: Host, profiles: tuple[str, ...], section: str) -> Iterator[tuple[str, str, str]]:
    """(file, key, value) of that section of the profiles and of those they include; later ones win."""
    yield from _tuned(host, profiles, section, 0)


def _tuned(host: Host, profiles: tuple[str, ...], section: str, depth: int) -> Iterator[tuple[str, str, str]]:
    for name in profiles if depth < 8 else ():
        if not re.fullmatch(r"[\w.@-]{1,128}", name):
            continue
        path = next((path for folder in TUNED_FOLDERS if not isinstance(host.stat(path := f"{folder}/{name}/tuned.conf"), Unavailable)), "")
        found = _assignments(text(host, path)) if path else {}
        included = tuple(value for key, value in found.get("main", ()) if key == "include")
        yield from _tuned(host, tuple(word for value in included for word in re.split(r"[\s,;]+", value) if word), section, depth + 1)
        yield from ((path, key, value) for key, value in found.get(section, ()))


def atune_settings(host: Host, section: str) -> Iterator[tuple[str, str, str]]:
    """(file, key, value) of A-Tune's profiles, where its daemon is started at boot. Which is active only its data base knows."""
    if not enabled(host, "atuned.service"):
        return
    paths: list[str] = []
    for pattern in ("/usr/lib/atuned/profiles/*/*/*.conf", "/usr/lib/atuned/profiles/*/*.conf", "/etc/atuned/*.conf"):
        found = host.list(pattern)
        paths += () if isinstance(found, Unavailable) else found
    for path in paths[: 4 * _MOST]:
        yield from ((path, key, value) for key, value in _assignments(text(host, path)).get(section, ()))


def scripted_sysctls(host: Host, key: str) -> Iterator[tuple[str, str]]:
    """(file, value) of start scripts and units that set the key by the sysctl program or by writing below /proc/sys."""
    path = re.escape("/proc/sys/" + key.replace(".", "/"))
    pattern = re.compile(rf"(?:sysctl\b[^\n;&|]{{0,200}}?\b{re.escape(key)}=[\"']?([^\s\"';&|]{{1,100}}))|(?:echo +[\"']?([^\s\"'>]{{1,100}})[\"']? *>+ *{path}\b)")
    files = ["/etc/rc.local", "/etc/rc.d/rc.local"]
    units = host.list(f"{_UNITS}/*.service")
    files += () if isinstance(units, Unavailable) else units[:_MOST]
    seen = set()
    for file in files:
        if (real := host.resolve(file)) in seen:
            continue
        seen.add(real)
        for line in text(host, file).splitlines():
            if not line.lstrip().startswith("#") and (match := pattern.search(line[:4096])):
                yield file, match[1] or match[2]


def ufw_sysctls(host: Host) -> str:
    """The path of ufw's own sysctl file, "" where ufw is not enabled."""
    on = re.search(r"(?im)^[ \t]*ENABLED[ \t]*=[ \t]*[\"']?yes", text(host, "/etc/ufw/ufw.conf"))
    return "/etc/ufw/sysctl.conf" if on and not isinstance(host.stat("/etc/ufw/sysctl.conf"), Unavailable) else ""


def _assignments(content: str) -> dict[str, list[tuple[str, str]]]:
    """Assignments by section of an ini file, in order; keys as they are written."""
    found: dict[str, list[tuple[str, str]]] = {}
    section = ""
    for line in content.splitlines():
        stripped = line.strip()
        if match := _SECTION.match(stripped):
            section = match[1].strip().lower()
            continue
        key, equals, value = stripped.partition("=")
        if equals and key.strip() and stripped[0] not in "#;":
            found.setdefault(section, []).append((key.strip(), value.strip().strip("\"'")))
    return found


__all__ = ["Tuned", "atune_settings", "enabled", "scripted_sysctls", "text", "tuned", "tuned_settings", "ufw_sysctls"]
