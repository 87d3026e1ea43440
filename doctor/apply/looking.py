"""What several step kinds ask before they plan: may this be changed from here, by whom, and what stands in the file now."""

from __future__ import annotations

from collections.abc import Callable

from doctor.apply.kind import Context
from doctor.apply.plan import StepPlan
from doctor.fix import Action, texts_of, unfilled
from doctor.host import MIB, Host, Kind, Unavailable, Why
from doctor.words import Words

SYSTEM = ("/etc/", "/usr/", "/lib/", "/run/", "/var/", "/proc/", "/sys/", "/opt/", "/boot/", "/dev/")
"""Where only root writes; inside a container these may be the container's own, which a fix may change."""
HOST_ONLY = ("/proc/sys/", "/sys/", "/etc/sysctl.d/", "/etc/tmpfiles.d/", "/etc/systemd/", "/etc/security/")
"""What a container has no say in."""


def blocked_step(key: str, action: Action, title: Words, why: Words, host_commands: tuple[str, ...] = ()) -> StepPlan:
    """A step that cannot be applied here."""
    return StepPlan(key, action, title, blocked=why, host_commands=host_commands)


def missing_values(action: Action) -> Words | None:
    """That a value of the action is not known, None where all are."""
    names = sorted({name for text in texts_of(action) for name in unfilled(text)})
    if not names:
        return None
    told = ", ".join(f"<{name}>" for name in names)
    return Words(f"a value is not known on this machine: {told}", f"本机上无法得知所需的值：{told}")


def reason_against(action: Action, context: Context, *paths: str) -> Words | None:
    """Why the action cannot be applied from here, None where nothing is against it."""
    if why := missing_values(action):
        return why
    if context.contained and any(path.startswith(HOST_ONLY) for path in paths):
        return in_container()
    return next((Words(f"{path!r} is not an absolute path", f"{path!r} 不是绝对路径") for path in paths if not path.startswith("/")), None)


def refused_setting(
    key: str, action: Action, title: Words, context: Context, wrong: Words | None, by_hand: Callable[[], tuple[str, ...]]
) -> StepPlan | None:
    """The blocked step of a setting of the running kernel, None where nothing is against it: a value that nobody knows, a name or value that is
    none (`wrong`), or a container, for whose host the commands are told.
    """
    if why := missing_values(action) or wrong:
        return blocked_step(key, action, title, why)
    return blocked_step(key, action, title, in_container(), by_hand()) if context.contained else None


def in_container() -> Words:
    return Words("doctor runs inside a container, and this is a setting of the host", "doctor 在容器内运行，而这是宿主机的设置")


def needs_root(context: Context, path: str) -> bool:
    """Below a root that was named, whoever may write there may."""
    return context.root == "/" and path.startswith(SYSTEM)


def text_of(host: Host, path: str) -> str | None | Words:
    """The file's exact text, None where there is none, or why it cannot be changed."""
    info = host.stat(path)
    if isinstance(info, Unavailable):
        return None if info.why is Why.MISSING else Words(f"{path} cannot be read: {info.why.value}", f"无法读取 {path}：{info.why.value}")
    if info.target == "/dev/null":
        return Words(f"{path} is a link to /dev/null: somebody has masked it", f"{path} 是指向 /dev/null 的链接：已被人为屏蔽")
    if info.kind is Kind.LINK:
        return Words(f"{path} is a link that leads nowhere", f"{path} 是失效的链接")
    if info.kind is not Kind.FILE:
        return Words(f"{path} is not a regular file", f"{path} 不是普通文件")
    data = host.read_raw(path, MIB + 1)
    if isinstance(data, Unavailable):
        return Words(f"{path} cannot be read: {data.why.value}", f"无法读取 {path}：{data.why.value}")
    if len(data) > MIB:
        return Words(f"{path} is larger than 1 MiB", f"{path} 大于 1 MiB")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return Words(f"{path} is not UTF-8 text", f"{path} 不是 UTF-8 文本")


__all__ = ["HOST_ONLY", "blocked_step", "in_container", "missing_values", "needs_root", "reason_against", "refused_setting", "text_of"]
