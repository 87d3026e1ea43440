"""One examination of commands that were given or found in files: the flags' own verdicts, and every rule that reads commands.

Contract: what is judged is what was named, never what runs on this machine; the machine only tells the release, the chip and the cards.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from doctor import checkup, diagnosis
from doctor.checkup import FactSet
from doctor.examine import Examination, Selection
from doctor.facts import Facts, HostFacts, known
from doctor.facts.container import RunCommands
from doctor.facts.npu import Chip, Npus
from doctor.facts.plugin_keys import SOURCE_LIMIT, ConfigKeys, read_keys, shipped_keys
from doctor.facts.target import Environment, Packages, discover, module_folder
from doctor.facts.vllm import ServeCommands
from doctor.finding import Finding, Hit, Outcome, Verdict
from doctor.host import KIB, Host, Unavailable
from doctor.lint import helm
from doctor.lint.additional import judge_keys
from doctor.lint.choose import Basis, Chooser, Chosen
from doctor.lint.composed import ComposedFacts, concerns
from doctor.lint.inputs import Found, of_arguments, of_text, variables_of
from doctor.lint.judge import OWN, Ruled, judge_start
from doctor.lint.modules import read_tree
from doctor.lint.parse import unfinished
from doctor.lint.settings import Place, judge_settings, model_config
from doctor.lint.source import variables_in
from doctor.lint.starts import Start
from doctor.lint.variables import judge_variables
from doctor.logscan.scan import Scan
from doctor.record import dataclass
from doctor.rule import Rule
from doctor.rulebook import Rulebook

CONFIG_LIMIT = 256 * KIB
"""Bytes of a model's config.json that are read."""

MOST_SHOWN = 3


@dataclass(frozen=True)
class Input:
    """A file's text under its name, or (`words`) the command line itself."""

    label: str
    text: str = ""
    words: tuple[str, ...] = ()
    folder: str = ""
    """Absolute folder from which relative paths in it start; "" where that is not known."""


@dataclass(frozen=True)
class Linted:
    """The examination, and the inputs in which nothing was found that starts vLLM."""

    examination: Examination
    empty: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    """Inputs of which Helm fills in parts, which were not judged."""


@dataclass(frozen=True)
class _Group:
    """Commands that are judged by the same release, with the facts that they and the machine tell."""

    chosen: Chosen
    found: Found
    facts: Facts


def examine_commands(
    inputs: Sequence[Input],
    host: Host | None,
    book: Rulebook,
    selection: Selection,
    *,
    python: str | None = None,
    version: str | None = None,
    heard: Callable[[Verdict], None] | None = None,
) -> Linted:
    """Judges the commands in all inputs. `version` names the vLLM instead of what the machine has."""
    begun = time.perf_counter()
    machine = _machine_facts(host, python)
    chooser = Chooser(host, machine, version)
    founds = [_found(one, host) for one in inputs]
    groups = list(_groups(founds, chooser, machine))
    ruled = list(_ruled(groups, host, machine))
    rules = selection.chosen(book.rules.values())
    verdicts: list[Verdict] = []
    for verdict in _verdicts(rules, groups, ruled):
        verdicts.append(verdict)
        if heard is not None:
            heard(verdict)
    verdicts += [Verdict(problem.name, Outcome.BROKEN, problem.why) for problem in book.problems]
    scan = Scan()
    scan.lines = sum(one.text.count("\n") + 1 for one in inputs)
    sets = tuple(FactSet("", group.facts) for group in groups) or (FactSet("", ComposedFacts((), machine)),)
    untied = _untied(book.rules, OWN | {one.rule for one in ruled})
    causes = tuple(replace(cause, rule=book.rules[cause.finding.rule]) for cause in diagnosis.diagnose(verdicts, untied))
    label = _label(inputs, groups)
    examination = Examination("text", label, sets[0].facts, sets[:1], tuple(verdicts), causes, book, scan, time.perf_counter() - begun)
    empty = tuple(one.label for one, found in zip(inputs, founds, strict=True) if not (found.starts or found.runs))
    templates = tuple(one.label for one in inputs if one.text and helm.is_template(one.text))
    return Linted(examination, empty, templates)


def _untied(rules: Mapping[str, Rule], own: frozenset[str]) -> dict[str, Rule]:
    """The rules without the ties of those decided here: in a log one refusal explains the next, in a command each flag is wrong by itself."""
    return {
        name: replace(rule, explains=tuple(one for one in rule.explains if one not in own), yields_to=() if name in own else rule.yields_to)
        for name, rule in rules.items()
    }


def _machine_facts(host: Host | None, python: str | None) -> HostFacts | None:
    if host is None:
        return None
    shared = HostFacts(host)
    target = next(iter(discover(host, python)), None)
    return HostFacts(host, target, shared) if target is not None else shared


def _found(one: Input, host: Host | None) -> Found:
    def read(path: str) -> str | None:
        text = host.read(path, CONFIG_LIMIT) if host is not None and path.startswith("/") else None
        return text if isinstance(text, str) else None

    found = of_arguments(one.words) if one.words else of_text(one.text, one.label, read=read)
    found = replace(found, starts=(*found.starts, *_configurations(found.starts, one.folder, read)))
    if not one.words:
        return found
    told = host.environ(0) if host is not None else {}
    around = {} if isinstance(told, Unavailable) else told
    starts = tuple(
        start if start.image else replace(start, command=replace(start.command, environment={**around, **start.command.environment}))
        for start in found.starts
    )
    return replace(found, starts=starts, variables={**{name: (value, 0) for name, value in around.items()}, **found.variables})


def _configurations(starts: Sequence[Start], folder: str, read: Callable[[str], str | None]) -> Iterator[Start]:
    """What stands in the files that commands of this machine name with --config; a relative path starts where the command does."""
    seen: set[str] = set()
    for start in starts:
        path = start.command.flags.get("config", "")
        if start.image is not None or start.how == "manifest" or not path.endswith((".yaml", ".yml")) or unfinished(path):
            continue
        path = path if path.startswith("/") else posixpath.normpath(posixpath.join(start.folder or folder, path))
        text = read(path) if path not in seen else None
        seen.add(path)
        yield from (found for found in of_text(text or "", path).starts if found.how == "config")


def _label(inputs: Sequence[Input], groups: Sequence[_Group]) -> str:
    """The inputs and, always, by which vLLM they were judged."""
    names = [one.label for one in inputs]
    shown = ", ".join(names[:MOST_SHOWN]) + (", …" if len(names) > MOST_SHOWN else "")
    releases = list(dict.fromkeys(group.chosen.said for group in groups if group.found.starts))
    return " · ".join([shown, *releases[:MOST_SHOWN]])


def _groups(founds: Iterable[Found], chooser: Chooser, machine: HostFacts | None) -> Iterator[_Group]:
    """The commands by release. Container starts without a vLLM command go with the release of their own image."""
    by_release: dict[tuple[str, Basis], tuple[Chosen, list[Found]]] = {}
    for found in founds:
        parts: dict[str | None, Found] = {}
        for start in found.starts:
            part = parts.get(start.image, Found())
            parts[start.image] = replace(part, starts=(*part.starts, start))
        for run in found.runs:
            part = parts.get(run.image, Found())
            parts[run.image] = replace(part, runs=(*part.runs, run))
        for image, part in parts.items():
            chosen = chooser.choose(image)
            variables = found.variables if len(parts) == 1 else _only(found.variables, variables_of(part))
            by_release.setdefault((chosen.said, chosen.basis), (chosen, []))[1].append(replace(part, variables=variables))
    for chosen, some in by_release.values():
        variables = {name: told for found in some for name, told in found.variables.items()}
        merged = Found(tuple(s for f in some for s in f.starts), tuple(r for f in some for r in f.runs), variables)
        yield _Group(chosen, merged, ComposedFacts(tuple(_facts(chosen, merged)), machine, host_packages=chosen.basis in (Basis.INSTALLED, Basis.RELEASE)))


def _only(placed: Mapping[str, tuple[str, int]], of_part: Mapping[str, tuple[str, int]]) -> dict[str, tuple[str, int]]:
    """The variables of a part of an input, with their lines in the whole of it."""
    return {name: (value, placed.get(name, (value, line))[1]) for name, (value, line) in of_part.items()}


def _facts(chosen: Chosen, found: Found) -> Iterator[object]:
    """The facts that the commands themselves tell."""
    source = _source(found)
    if found.starts:
        yield ServeCommands(tuple(start.command for start in found.starts), source)
    if found.runs:
        yield RunCommands(found.runs, found.runs[0].source)
    values = {name: value for name, (value, _) in found.variables.items()}
    yield Environment(values, complete=False, source=source, lines={name: line for name, (_, line) in found.variables.items()})
    if chosen.basis in (Basis.IMAGE, Basis.NAMED):
        versions = {"vllm": chosen.vllm, "vllm-ascend": chosen.ascend}
        yield Packages({name: version for name, version in versions.items() if version}, complete=False, source=source)


def _source(found: Found) -> str:
    sources = [*(start.command.source for start in found.starts), *(run.source for run in found.runs)]
    return next((source for source in sources if source), "command line")


def _ruled(groups: Sequence[_Group], host: Host | None, machine: HostFacts | None) -> Iterator[Ruled]:
    """What the flags, settings and variables say by themselves."""
    several = sum(len(group.found.starts) for group in groups) > 1
    asks = _Machine(host, machine)
    for group in groups:
        keys = asks.config_keys(group.chosen) if group.chosen.basis is Basis.INSTALLED else None
        for start in group.found.starts:
            label = start.command.source.rpartition("/")[2] if several or start.command.line else ""
            parsed, ruled = judge_start(start, group.chosen, label)
            yield from ruled
            yield from judge_settings(start, parsed, asks.place(start, parsed.model or start.command.model), label)
            yield from judge_keys(start, parsed, keys)
        installed = asks.ascend_variables() if group.chosen.basis is Basis.INSTALLED else frozenset()
        yield from judge_variables(group.found.variables, _source(group.found), group.chosen, installed)


@dataclass
class _Machine:
    """What settings need to know of the machine; each thing is looked at once, and only if a command needs it."""

    host: Host | None
    facts: HostFacts | None
    configs: dict[str, Place] = field(default_factory=dict)

    def place(self, start: Start, model: str | None) -> Place:
        path = model if model and model.startswith("/") and start.image is None and start.how != "manifest" else ""
        if path not in self.configs:
            npus = known(self.facts.get(Npus)) if self.facts else None
            chip = known(self.facts.get(Chip)) if self.facts else None
            text = self.host.read(f"{path.rstrip('/')}/config.json", CONFIG_LIMIT) if path and self.host else ""
            config = model_config(text) if isinstance(text, str) and text else None
            cards = len(npus.chips) if npus is not None and npus.complete and npus.chips else None
            self.configs[path] = Place(cards, chip.family if chip else None, config)
        return self.configs[path]

    def config_keys(self, chosen: Chosen) -> ConfigKeys | None:
        """The keys of --additional-config as the installed plugin's source has them; None for a release that the table holds."""
        folder = module_folder(self.facts, "vllm_ascend") if self.facts and shipped_keys(chosen.ascend) is None else None
        host = self.host
        if folder is None or host is None:
            return None

        def read(path: str) -> str | None:
            text = host.read(f"{folder}/{path}", SOURCE_LIMIT)
            return text if isinstance(text, str) else None

        return read_keys(read, f"read from {folder}")

    def ascend_variables(self) -> frozenset[str]:
        folder = module_folder(self.facts, "vllm_ascend") if self.facts else None
        text = self.host.read(f"{folder}/envs.py", CONFIG_LIMIT) if folder and self.host else ""
        tree = read_tree(text) if isinstance(text, str) and text else None
        return variables_in(tree) if tree is not None else frozenset()


def _verdicts(rules: Iterable[Rule], groups: Sequence[_Group], ruled: Sequence[Ruled]) -> Iterator[Verdict]:
    """One verdict for each rule that commands concern."""
    hits: dict[str, list[Hit]] = {}
    for one in ruled:
        hits.setdefault(one.rule, []).append(one.hit)
    for rule in rules:
        mine = hits.get(rule.id, [])
        if rule.id in OWN:
            yield _own(rule, mine, groups)
        elif concerns(rule):
            verdicts = [checkup.judge(rule, [FactSet("", group.facts)], Scan()) for group in groups]
            yield _merged(rule, [_own(rule, mine, groups), *verdicts] if mine else verdicts)
        elif mine:
            yield _own(rule, mine, groups)


def _own(rule: Rule, hits: Sequence[Hit], groups: Sequence[_Group]) -> Verdict:
    """The verdict of what was decided here, in the words of the rule."""
    if not any(group.found.starts for group in groups):
        return Verdict(rule.id, Outcome.SKIPPED, "no command that starts vLLM")

    def decided() -> Iterator[Hit]:
        yield from hits

    return checkup.judge(replace(rule, decisions=(), patterns={}, logic=decided), [FactSet("", groups[0].facts)], Scan())


def _merged(rule: Rule, verdicts: Sequence[Verdict]) -> Verdict:
    """One verdict out of those on the groups; a subject that was told once is not told again."""
    findings: dict[str, Finding] = {}
    for verdict in verdicts:
        for finding in verdict.findings:
            findings.setdefault(finding.subject, finding)
    outcomes = {verdict.outcome for verdict in verdicts}
    outcome = next((one for one in (Outcome.BROKEN, Outcome.FOUND, Outcome.CLEAR) if one in outcomes), Outcome.SKIPPED)
    why = "; ".join(dict.fromkeys(verdict.why for verdict in verdicts if verdict.why and verdict.outcome is outcome))
    return Verdict(rule.id, outcome, why, sum(verdict.seconds for verdict in verdicts), tuple(findings.values()))
