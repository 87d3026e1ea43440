"""Whether the user and the group in which the driver was installed exist on the host."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.container import Container
from doctor.facts.driver import DriverInstall
from doctor.facts.kernel import Accounts
from doctor.finding import Confidence, Evidence, Hit, Skip

_DEFAULT = "HwHiAiUser"


def judge(install: DriverInstall, accounts: Accounts, container: Container | None) -> Iterator[Hit]:
    if container is not None and container.inside:
        raise Skip("inside a container numeric ids suffice")
    if install.version_file != "file" and not install.info:
        raise Skip("no driver is installed")
    told = install.info or {}
    user, group = told.get("UserName") or _DEFAULT, told.get("UserGroup") or _DEFAULT
    missing = [f"user {user}"] if user not in accounts.users else []
    missing += [f"group {group}"] if group not in accounts.groups else []
    if missing:
        yield Hit(
            found=" and ".join(missing) + " not in " + accounts.source,
            wanted=f"user {user} and group {group} exist",
            evidence=(Evidence(install.source, f"UserName={user} UserGroup={group}"), Evidence(accounts.source, "no " + ", no ".join(missing))),
            confidence=Confidence.LIKELY,  # accounts of a directory service are not in these files
            values={"user": user, "group": group},
        )
