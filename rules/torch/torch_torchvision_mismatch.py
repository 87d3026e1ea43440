"""torchvision and torchaudio against torch: torchvision 0.(Y+15) and torchaudio 2.Y go with torch 2.Y."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.target import Packages
from doctor.finding import Evidence, Hit, Severity, Skip
from doctor.regex import regex

_MINOR = regex(r"(\d+)\.(\d+)")
_OFFSET = 15


def judge(packages: Packages) -> Iterator[Hit]:
    torch = _MINOR.match(packages.versions.get("torch", ""))
    if torch is None or torch[1] != "2":
        raise Skip("the version of torch is not known, or it is none of 2.x")
    vision, audio = (_MINOR.match(packages.versions.get(name, "")) for name in ("torchvision", "torchaudio"))
    if vision is None and audio is None and not packages.complete:
        raise Skip("the versions of torchvision and torchaudio are not known")
    pair = f"0.{int(torch[2]) + _OFFSET}"
    wrong = []
    if vision is not None and vision[0] != pair and vision[1] == "0":
        wrong.append(f"torchvision {packages.versions['torchvision']}")
    if audio is not None and audio[0] != torch[0] and audio[1] == "2":
        wrong.append(f"torchaudio {packages.versions['torchaudio']}")
    if wrong:
        yield Hit(
            found=f"{' and '.join(wrong)} with torch {packages.versions['torch']}",
            wanted=f"torchvision {pair}.x and torchaudio {torch[0]}.x",
            evidence=(Evidence(packages.source or "packages", ", ".join(wrong), packages.lines.get("torchvision", 0)),),
            severity=Severity.WARN if packages.lines else Severity.FAIL,  # a text need not show the environment that ran
            values={"torchvision": f"{pair}.*", "torchaudio": f"{torch[0]}.*"},
        )
