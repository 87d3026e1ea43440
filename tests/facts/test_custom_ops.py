"""Lists of operators: which packages are loaded, in which order; what is no list is none."""

from __future__ import annotations

import pytest

from doctor.facts import HostFacts
from doctor.facts.cann import Cann, CannInstall, CustomOps
from doctor.facts.custom_ops import CONFIG, OpPackages, operator_types
from doctor.facts.target import Environment
from doctor.host import Unavailable
from tests.watch.fakehost import FakeHost

HOME = "/usr/local/Ascend/cann"


@pytest.mark.parametrize("text", ["", "[]", "null", "{", '{"a b": 1, "": 2, "x\\u0000": 3}', "[" * 100_000, '{"' + "a" * 500 + '": 1}'])
def test_what_is_no_list_names_no_operator(text: str) -> None:
    assert operator_types(text) == frozenset()


def packages(files: dict[str, str], variable: str = "") -> OpPackages | Unavailable:
    host = FakeHost()
    host.files |= files
    facts = HostFacts(host)
    install = CannInstall(HOME, "8.5.1")
    facts.put(Cann((install,), install))
    facts.put(CustomOps(("any",)))
    facts.put(Environment({"ASCEND_CUSTOM_OPP_PATH": variable}))
    return facts.get(OpPackages)


def ops(folder: str, *names: str) -> dict[str, str]:
    return {f"{folder}/{CONFIG}/ascend910b/aic-ascend910b-ops-info.json": "{" + ", ".join(f'"{name}": {{}}' for name in names) + "}"}


def test_the_variable_comes_before_the_list_of_vendors() -> None:
    found = packages(
        {**ops("/srv/mine", "A"), **ops(f"{HOME}/opp/vendors/b", "B"), **ops(f"{HOME}/opp/vendors/not_loaded", "C"), **ops(f"{HOME}/opp/built-in", "Add"),
         f"{HOME}/opp/vendors/config.ini": "load_priority=b,../../x,"}, "relative:/srv/mine/:/srv/gone"
    )  # fmt: skip
    assert isinstance(found, OpPackages)
    assert [(package.path, package.operators) for package in found.packages] == [("/srv/mine", frozenset({"A"})), (f"{HOME}/opp/vendors/b", frozenset({"B"}))]
    assert found.builtin == frozenset({"Add"}) and found.unread == ("/srv/gone",)


def test_packages_without_lists_are_not_known() -> None:
    assert isinstance(packages({}, "/srv/mine"), Unavailable)
