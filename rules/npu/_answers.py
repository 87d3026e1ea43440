"""Why npu-smi failed, from its own answer on a host and from logs. Shared by the rules of this folder."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import NpuSmi
from doctor.facts.npu_smi import classify_failure
from doctor.finding import Basis, Evidence, Hit, Skip
from doctor.logscan.signature import Matches, evidence_of


def failed(code: str, smi: NpuSmi | None, matches: Matches, name: str) -> Iterator[Hit]:
    """A hit if npu-smi failed with this DCMI code, and one for the log lines of the pattern `name`. Skips where neither is known."""
    if smi is None and not matches.looked:
        raise Skip("npu-smi info was not run, and no log was given")
    if smi is not None and classify_failure(smi.text, smi.exit or 0) == f"dcmi {code}":
        line = next((line for line in smi.text.splitlines() if code in line), smi.text[:200])
        yield Hit(found=line.strip()[:200], wanted="a table of NPUs", evidence=(Evidence(smi.source, line.strip()[:400]),))
    lines = matches[name]
    if lines:
        yield Hit(found=lines[0].text[:200], evidence=(evidence_of(lines, matches.count(name)),), basis=Basis.LOG, position=lines[0].ordinal + 1)
