"""Which transformers each vllm-ascend release asks for (requirements.txt of its tag). Not a rule: the two rules about transformers share it."""

from __future__ import annotations

from doctor.versions import Scheme, satisfies

PINS = (
    (">=0.9.1rc2, <=0.9.1", "<4.53.0"),
    ("==0.9.2rc1", "==4.52.4"),
    ("==0.10.0rc1", "<4.54.0"),
    (">=0.11.0rc3, <=0.12.0rc1", "<=4.57.1"),
    (">=0.13.0rc1, <=0.13.0rc2", ">=4.57.3"),
    (">=0.13.0rc3, <=0.13.0", ">=4.57.4, <5"),
    ("==0.14.0rc1", ">=4.57.3"),
    (">=0.15.0rc1, <=0.18.0", ">=4.57.4"),
    (">=0.19.1rc1, <=0.20.2rc1", "==5.5.3"),
    (">=0.21.0rc1, <=0.23.0", "==5.5.4"),
    ("==0.24.0rc1", "==5.13.0"),
    ("==0.25.1rc1", "==5.14.1"),
)
"""(releases, transformers); a release that is not here asks for nothing, or it is not known."""


def pin_of(vllm_ascend: str) -> str | None:
    """What the release asks for; None where that is not known."""
    return next((pin for releases, pin in PINS if satisfies(vllm_ascend, releases, Scheme.PACKAGE)), None)


def minor(version: str) -> str:
    """"5.5" of 5.5.4."""
    return ".".join(version.split(".")[:2])
