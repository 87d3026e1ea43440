"""Decides perf-nz-float-0-12: vllm-ascend 0.12.0rc1 with its default weight format and a model that is not quantised."""

from collections.abc import Iterator

from doctor.facts.target import Environment, Packages
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit
from doctor.logscan.signature import Matches

RELEASE = "0.12.0rc1"
VARIABLE = "VLLM_ASCEND_ENABLE_NZ"


def judge(packages: Packages, environment: Environment | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    version = packages.versions.get("vllm-ascend", "")
    value = environment.values.get(VARIABLE) if environment is not None else None
    quantised = any("quantization" in command.flags for command in (commands.commands if commands else ()))
    if version == RELEASE and value in (None, "1") and not quantised:
        known = value is not None or (environment is not None and environment.complete)
        if matches.looked and not known and not matches["slow"]:
            return
        yield Hit(
            found=f"vllm-ascend {version}, {VARIABLE} is {value or 'not set'}",
            wanted=f"{VARIABLE}=0 for models that are not quantised",
            evidence=(Evidence(packages.source, f"vllm-ascend {version}", packages.lines.get("vllm-ascend", 0)),),
            confidence=Confidence.LIKELY if known else Confidence.POSSIBLE,
        )
