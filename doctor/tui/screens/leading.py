"""From a row to what there is of it: its fix, its rule's page, its evidence; and from the list of all rows to the other screens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from doctor.tui.job import Job
from doctor.tui.screens.base import DoctorScreen

if TYPE_CHECKING:
    from doctor.report.model import Report
    from doctor.tui.rows import Row


class RowScreen(DoctorScreen):
    """Shows rows of a job's report; one of them is the current one."""

    job: Job
    report: Report | None

    @property
    def current(self) -> Row | None:
        raise NotImplementedError

    def action_fix(self) -> None:
        row = self.current
        if row is None or not any(fix.do for fix in row.fixes):
            self.say("fix_none")
        else:
            self.doctor.open_fix(self.job, self.report, row.rule)

    def action_explain(self) -> None:
        row = self.current
        if row is not None and row.rule:
            self.doctor.explain(row.rule)

    def action_evidence(self) -> None:
        row = self.current
        if row is not None:
            evidence = row.finding.evidence if row.finding else (row.error.evidence,) if row.error else ()
            self.doctor.open_evidence(self.job, evidence)


class LeadingScreen(RowScreen):
    """Leads everywhere."""

    def action_npus(self) -> None:
        self.doctor.open_npus(self.job, self.report)

    def action_logs(self) -> None:
        self.doctor.open_logs()

    def action_smoke(self) -> None:
        self.doctor.open_smoke()

    def action_history(self) -> None:
        self.doctor.open_history(self.job, self.report)

    def action_watch(self) -> None:
        self.doctor.open_watch()

    def action_bundle(self) -> None:
        self.doctor.open_bundle(self.job)


__all__ = ["LeadingScreen", "RowScreen"]
