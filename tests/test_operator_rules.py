"""Rules of the operator area whose facts no recorded host can show: owners and modes are not recorded by hand."""

from __future__ import annotations

import importlib

from doctor.facts.cann import CustomOps
from doctor.rulepackage import rules_package


def test_a_folder_that_is_denied_is_named_and_a_readable_one_is_not() -> None:
    rules_package()
    judge = importlib.import_module("doctor.rules.operator.operator_custom_opp_unreadable").judge
    denied = CustomOps(vendors=("customize",), unreadable=("/opp/vendors/config.ini",), source="/opp/vendors")
    assert [hit.subject for hit in judge(denied, None)] == ["/opp/vendors/config.ini"]
    assert not list(judge(CustomOps(vendors=("customize",)), None))
    assert not list(judge(None, None))
