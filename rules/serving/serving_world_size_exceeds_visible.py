"""Ranks of one node against the cards that the server can see."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.npu import Npus
from doctor.facts.target import Environment, Target
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.fit import Plan
from doctor.logscan.signature import Matches

MASK = "ASCEND_RT_VISIBLE_DEVICES"


def judge(commands: ServeCommands | None, npus: Npus | None, environment: Environment | None, target: Target | None, matches: Matches) -> Iterator[Hit]:
    if target is None or commands is None or npus is None or not npus.complete or not npus.chips:
        if not matches.looked:
            raise Skip("the commands, or the cards of this machine, are not known")
        return
    for command in commands.commands:
        ranks, cards = _ranks(command), _visible(command, environment, len(npus.chips))
        if ranks > cards and command.argv[:1] != ("LLM",):
            found = f"{ranks} ranks on one node, {cards} cards visible"
            yield Hit(
                found=found,
                wanted="no more ranks than cards",
                evidence=(Evidence(command.source, found, command.line), Evidence(npus.source, f"{len(npus.chips)} chips")),
                confidence=Confidence.LIKELY,
            )
            return


def _ranks(command: ServeCommand) -> int:
    """Of this node: several nodes share the pipeline, or each has its own part of data parallelism."""
    plan, flags = Plan.of(command), command.flags
    if any(name in flags for name in ("nnodes", "node-rank", "headless", "data-parallel-address")) or flags.get("distributed-executor-backend") == "ray":
        return plan.tp if "nnodes" not in flags and flags.get("distributed-executor-backend") != "ray" else 1
    return plan.tp * plan.pp


def _visible(command: ServeCommand, environment: Environment | None, cards: int) -> int:
    mask = command.environment.get(MASK) or (environment.values.get(MASK, "") if environment else "")
    listed = [part for part in mask.split(",") if part.strip().isdecimal()]
    return min(len(listed), cards) if listed else cards
