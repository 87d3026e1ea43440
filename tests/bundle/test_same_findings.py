"""The findings from a bundle are those of the live host or log: over every fixture, with every profile that masks."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from doctor.bundle.gather import Gathered, Gathering, gather
from doctor.bundle.redact import Redactor
from doctor.bundle.seen import Masked, SeenHost, learn
from doctor.examine import Examination, Selection, examine_host
from doctor.host import Host
from doctor.host.plain import PlainHost
from doctor.host.recorded import RecordedHost
from doctor.host.recording import RecordingHost
from doctor.logscan.sources import open_sources
from tests.bundle.busy import BusyHost
from tests.fixture_cases import FIXTURES, SmallCase, _write_host, book, folders, run_text, small_cases

KEY = b"k" * 32


class Memory:
    """The members of a bundle that was not written."""

    name = "bundle"

    def __init__(self, members: dict[str, bytes]) -> None:
        self.members = members

    def get(self, name: str, limit: int) -> bytes | None:
        data = self.members.get(name)
        return None if data is None else data[:limit]

    def write(self, name: str, text: str) -> None:
        if name in self.members:
            raise FileExistsError
        self.members[name] = text.encode("utf-8", "surrogatepass")

    def holds(self, name: str, text: str) -> bool:
        return self.members.get(name) == text.encode("utf-8", "surrogatepass")

    def append(self, name: str, line: str) -> None:
        self.members[name] += line.encode()


def said(examination: Examination, mask: Any = str) -> dict[str, Any]:
    """Everything that a user acts on."""
    findings = [finding for cause in examination.causes for finding in (cause.finding, *cause.symptoms)]
    return {
        "first": [cause.finding.rule for cause in examination.causes],
        "findings": sorted((each.rule, each.severity, each.confidence, each.basis, mask(each.subject)) for each in findings),
        "verdicts": [(verdict.rule, verdict.outcome) for verdict in examination.verdicts],
    }


def texts() -> list[tuple[str, str]]:
    cases = [(str(case), case.text) for case in small_cases() if case.text is not None]
    return cases + [(folder.name, (folder / "input.txt").read_text(encoding="utf-8", errors="replace")) for folder in folders("reports")]


@pytest.mark.parametrize(("profile", "least"), [("support", 60), ("public", 300)])
def test_every_text(profile: str, least: int) -> None:
    different, changed = [], 0
    for name, text in texts():
        redactor = Redactor(profile, KEY)
        redactor.learn([text])
        masked = redactor.text(text)
        if masked == text:
            continue  # the same text, the same findings
        changed += 1
        if profile == "public" and masked == _support(text):
            continue  # the other profile's text
        if said(run_text(text), redactor.text) != said(run_text(masked)):
            different.append(name)
    assert not different
    assert changed > least, "the fixtures do hold what is masked"


def _support(text: str) -> str:
    redactor = Redactor("support", KEY)
    redactor.learn([text])
    return redactor.text(text)


def gathered(host: Host, selection: Selection = Selection(), profile: str = "support") -> Gathered:  # noqa: B008  frozen
    return gather(host, book(), Gathering(profile, key=KEY, selection=selection))


@pytest.mark.parametrize("profile", ["support", "public"])
@pytest.mark.parametrize("folder", folders("hosts"), ids=lambda folder: folder.name)
def test_every_recorded_host(folder: Path, profile: str) -> None:
    bundle = gathered(PlainHost(folder), profile=profile)
    replayed = examine_host(RecordedHost(Memory(dict(bundle.members()))), book(), Selection())
    assert said(replayed) == said(bundle.examination, bundle._redactor.text)
    assert json.loads(dict(bundle.members())["report.json"])["causes"] is not None


def test_every_small_case_of_a_host(tmp_path: Path) -> None:
    """The rules of the case's area: those of the others see what `test_every_recorded_host` shows them."""
    different = []
    for index, case in enumerate(case for case in small_cases() if case.text is None):
        folder = tmp_path / str(index)
        _copy(case, folder)
        selection = Selection(only=(case.rule,))
        seen = SeenHost(PlainHost(folder))
        live = examine_host(seen, book(), selection)
        redactor = Redactor("support", KEY)
        learn(redactor, seen.inner, seen.seen())
        masked, memory = Masked(seen.seen(), seen.infos(), seen.label, seen.now(), redactor), Memory({})
        recording = RecordingHost(masked, memory)
        for each in seen.seen():
            masked.ask(each, recording)
        if said(examine_host(RecordedHost(memory), book(), selection)) != said(live, redactor.text):
            different.append(str(case))
        shutil.rmtree(folder)
    assert not different


def _copy(case: SmallCase, folder: Path) -> None:
    """Base hosts are copied once and linked from then on; what a case writes is unlinked first."""
    if case.base:
        base = folder.parent / case.base
        if not base.exists():
            shutil.copytree(FIXTURES / "hosts" / case.base, base, symlinks=True)
        shutil.copytree(base, folder, symlinks=True, copy_function=os.link)
        for name in (*(f"files/{name.lstrip('/')}" for name in case.files), "commands.txt"):
            if (folder / name).is_file():
                (folder / name).unlink()
        shutil.copy(base / "commands.txt", folder / "commands.txt")
    _write_host(folder, case)


def test_a_large_log_keeps_its_findings(tmp_path: Path) -> None:
    """The error stands in the middle of a log that is cut."""
    error = (folders("reports")[0] / "input.txt").read_text(encoding="utf-8", errors="replace")
    healthy = "(APIServer pid=1) INFO 11-30 09:38:38 [loggers.py:127] Engine 000: Avg prompt throughput: 1.0 tokens/s\n" * 40_000
    log = tmp_path / "serve.log"
    log.write_text(healthy + error + healthy, encoding="utf-8")
    bundle = gather(BusyHost(), book(), Gathering(key=KEY), open_sources([str(log)]))
    kept = next(item for item in bundle.items if item.id.startswith("log:"))
    assert kept.size < 1.1 * 2**20 and kept.left_out > 1000
    from doctor.bundle.archive import Archive
    from doctor.bundle.opened import _snapshot
    from doctor.logscan.sources import all_chunks

    opened = _snapshot(Archive("bundle", dict(bundle.members())), None)
    assert opened.host is not None and opened.kind == "bundle"
    replayed = examine_host(opened.host, book(), Selection(), chunks=all_chunks(opened.logs, [], lambda _: None))
    assert said(replayed)["findings"] == said(bundle.examination, bundle._redactor.text)["findings"]
    assert len(said(replayed)["findings"]) > len(said(examine_host(opened.host, book(), Selection()))["findings"])
