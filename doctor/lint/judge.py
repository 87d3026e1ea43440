"""From what is wrong with a command to the causes of the rules: which rule it is, what was found, what is wanted. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from doctor.finding import Confidence, Evidence, Hit, Severity
from doctor.lint import shipped
from doctor.lint.choose import Chosen
from doctor.lint.flags import Kind, nearest
from doctor.lint.parse import Parsed, Problem, Wrong, judge_value, parse, unfinished
from doctor.lint.replaced import ALIASES, INVENTED, REPLACED
from doctor.lint.starts import Start
from doctor.record import dataclass

UNKNOWN, REMOVED, SHORTENED = "serving-flag-unknown", "serving-flag-removed", "serving-flag-abbreviated"
VALUE, JSON, DEVICE = "serving-flag-invalid-value", "serving-json-option-invalid", "serving-device-ascend"
METHOD = "model-quantization-name-unknown"
TOKENS = "serving-batched-tokens-below-max-len"

OWN = frozenset({UNKNOWN, REMOVED, SHORTENED, VALUE, JSON, DEVICE, TOKENS, *INVENTED.values()})
"""Rules that are decided here, by the flags of the release; their own looser way of deciding is left out."""

PLUGIN_VALUES: Mapping[str, frozenset[str]] = {"quantization": frozenset({"ascend"}), "device": frozenset({"npu"})}
"""Values that vllm-ascend adds to vLLM's own choices when it is loaded."""

DEVICE_NPU_UNTIL = "0.9.2"
"""The last release of the table with --device; up to it `npu` was accepted beside the plugin."""

SHOWN = 120
MOST_CHOICES = 24
SHORTEST = 8


@dataclass(frozen=True)
class Ruled:
    """A hit and the rule whose cause it is."""

    rule: str
    hit: Hit


def judge_start(start: Start, chosen: Chosen, label: str = "") -> tuple[Parsed, list[Ruled]]:
    """What the flags, or the arguments of a Python call, say about one command. `label` tells several commands of a run apart."""
    if start.words or not start.command.keywords:
        parsed = parse(start.words, chosen.table, takes_model=start.model_first)
        teller = _Teller(start, chosen, label)
        ruled = [one for problem in parsed.problems for one in _ruled(teller, problem)]
        return parsed, [*ruled, *_skipped(teller)]
    return _call(start, chosen, label)


@dataclass(frozen=True)
class _Teller:
    """Puts one problem of one command into a hit."""

    start: Start
    chosen: Chosen
    label: str

    def hit(self, rule: str, problem: Problem, found: str, wanted: str = "", confidence: Confidence | None = None, severity: Severity | None = None, **values: str) -> Ruled:
        name = problem.name
        line = self.start.line_of(name)
        text = _typed(problem)[:SHOWN]
        place = f"{self.label}:{line}" if self.label and line else self.label
        subject = f"{name} ({place})" if place else name
        source = self.start.command.source or "command line"
        sure = confidence or (Confidence.SURE if self.chosen.sure else Confidence.LIKELY)
        evidence = (Evidence(source, text, line),)
        return Ruled(rule, Hit(subject, found[:300], wanted[:300], evidence, sure, severity, {"bad": name, "flag": name, **values}))


def _ruled(teller: _Teller, problem: Problem) -> Iterator[Ruled]:
    said = teller.chosen.said
    if problem.wrong is Wrong.UNKNOWN:
        yield _unknown(teller, problem, problem.name.lstrip("-").partition(".")[0].replace("_", "-"), "--")
    elif problem.wrong is Wrong.AMBIGUOUS:
        if problem.name == "--device":
            yield teller.hit(DEVICE, problem, f"{_typed(problem)} is not in {said}", "no device option")
            return
        names = ", ".join(problem.meant)
        yield teller.hit(SHORTENED, problem, f"{problem.name} fits {names} of {said}", "the whole name", severity=Severity.FAIL, matches=names)
    elif problem.wrong is Wrong.SHORTENED:
        whole = problem.meant[0]
        yield teller.hit(SHORTENED, problem, f"{problem.name} is taken for {whole} by {said}", whole, matches=whole)
    elif problem.wrong is Wrong.JSON:
        shown = re.sub(r"\s+", " ", problem.value)
        yield teller.hit(JSON, problem, f"{problem.name}: {problem.why}; it starts {shown[:SHOWN]}", "JSON with double quotes inside")
    elif problem.wrong is Wrong.CHOICE and problem.flag is not None and problem.flag.name in PLUGIN_VALUES:
        yield from _plugin_value(teller, problem)
    else:
        found, wanted = _value(problem)
        yield teller.hit(VALUE, problem, f"{found} ({said})", wanted)


def _skipped(teller: _Teller) -> Iterator[Ruled]:
    """`enable-…: false` in a configuration file is left out by vLLM's reader, so that a default of true stays."""
    for key in teller.start.skipped:
        flag = teller.chosen.table.flags.get(key.replace("_", "-"))
        if flag is None:
            yield _unknown(teller, Problem(Wrong.UNKNOWN, f"--{key}"), key.replace("_", "-"), "--")
        elif flag.kind is Kind.BOOL:
            found = f"{key}: false is left out when vLLM reads the file"
            yield teller.hit(VALUE, Problem(Wrong.CHOICE, f"--{key}", "false"), found, f"no-{flag.name}: true", severity=Severity.WARN)


def _plugin_value(teller: _Teller, problem: Problem) -> Iterator[Ruled]:
    """A value of a flag whose choices vllm-ascend extends."""
    assert problem.flag is not None
    if problem.value in PLUGIN_VALUES[problem.flag.name]:
        return
    found, wanted = _value(problem)
    rule = DEVICE if problem.flag.name == "device" else METHOD
    yield teller.hit(rule, problem, f"{found} ({teller.chosen.said})", "no device option" if rule == DEVICE else wanted, method=problem.value)


def _value(problem: Problem) -> tuple[str, str]:
    """(what was found, what is wanted) for a value that does not fit."""
    name, flag = problem.name, problem.flag
    if problem.wrong is Wrong.MISSING:
        return f"{name} has no value", _kind_words(flag.kind if flag else Kind.ANY)
    if problem.wrong is Wrong.SUPERFLUOUS:
        return f"{name} takes no value, {problem.value} follows it", name
    if problem.wrong is Wrong.STRAY:
        return f"the word {problem.value[:SHOWN]} belongs to no option", "one model, and no blank within an unquoted value"
    if problem.wrong is Wrong.CHOICE and flag is not None:
        more = ", …" if len(flag.choices) > MOST_CHOICES else ""
        return f"{name} {problem.value}", "one of " + ", ".join(flag.choices[:MOST_CHOICES]) + more
    return f"{name} {problem.value}", _kind_words(flag.kind if flag else Kind.ANY)


def _typed(problem: Problem) -> str:
    return f"{problem.name} {problem.value}".strip()


def _kind_words(kind: Kind) -> str:
    return {
        Kind.INT: "an integer", Kind.SIZE: "an integer, or one such as 32k", Kind.FLOAT: "a number", Kind.JSON: "a JSON object",
        Kind.JSON_OR_TEXT: "a JSON object",
    }.get(kind, "a value")  # fmt: skip


def _unknown(teller: _Teller, problem: Problem, name: str, dashes: str) -> Ruled:
    """A name that this release does not have: invented, dropped, of a later release, or misspelt."""
    def spelt(flag: str) -> str:
        return f"--{flag}" if dashes else flag.replace("-", "_")

    said = teller.chosen.said
    if name == "device":
        return teller.hit(DEVICE, problem, f"{_typed(problem)} is not in {said}", "no device option")
    if name in INVENTED:
        wanted = spelt("max-num-seqs") if "batch-size" in name else "no such option"
        return teller.hit(INVENTED[name], problem, f"{problem.name}: no vLLM ever had it", wanted, Confidence.SURE)
    known, last = _history(name), ""
    if known is not None:
        version = shipped.release_of(teller.chosen.vllm or teller.chosen.table.version.partition("-")[0])
        first_known, last_known = shipped.release_of(known.first), shipped.release_of(known.last)
        if version is not None and last_known is not None and last_known < version:
            replacement = REPLACED.get(name) or next((REPLACED[whole] for whole in REPLACED if whole.startswith(name)), "nothing")
            found = f"{problem.name} is not in {said}; vLLM had it up to {known.last}"
            return teller.hit(REMOVED, problem, found, replacement if replacement != "nothing" else f"without {problem.name}", replacement=replacement)
        if version is not None and first_known is not None and first_known > version:
            last = f"; it comes with vLLM {known.first}"
    near = meant(name, teller.chosen, keywords=not dashes)
    suggestion = spelt(near) if near else ""
    return teller.hit(
        UNKNOWN, problem, f"{problem.name} is not in {said}{last}", suggestion or f"without {problem.name}", suggestion=suggestion or "-"
    )


def _history(name: str) -> shipped.History | None:
    """Of the flag itself, or of the only one that it begins and that was ever there."""
    known = shipped.history(name)
    if known is None and len(name) >= SHORTEST:
        whole = [flag for flag in shipped.all_flags() if flag.startswith(name)]
        known = shipped.history(whole[0]) if len(whole) == 1 else None
    return known


def meant(name: str, chosen: Chosen, *, keywords: bool = False) -> str | None:
    """The flag of this release (with `keywords`: the argument in Python) that a wrong name is most likely meant to be; None if none is near."""
    known = frozenset(word.replace("_", "-") for word in chosen.table.keywords) if keywords else frozenset(chosen.table.longs)
    alias = ALIASES.get(name)
    if alias is not None and alias in known:
        return alias
    if name.startswith("no-") and name[3:] in known:
        return None  # a switch without a negative form: leaving it out is what is meant
    for shape in (f"enable-{name}", f"disable-{name}", name.removeprefix("enable-"), name.removeprefix("use-")):
        if shape != name and shape in known:
            return shape
    return nearest(name, known)


def _call(start: Start, chosen: Chosen, label: str) -> tuple[Parsed, list[Ruled]]:
    """LLM(…) and EngineArgs(…): the names must be fields of this release, the values of the flags' kinds."""
    teller = _Teller(start, chosen, label)
    found: list[Ruled] = []
    flags: dict[str, str] = {}
    for key, value in start.command.keywords.items():
        name = key.replace("_", "-")
        flag = chosen.table.flags.get(name)
        if value == "True":
            flags[name] = ""
        elif value not in ("False", "None"):
            flags[name] = value
        else:
            flags |= {name: "false"} if value == "False" else {}
        problem = Problem(Wrong.UNKNOWN, key, value[:SHOWN])
        if chosen.table.keywords and key not in chosen.table.keywords:
            found.append(_unknown(teller, problem, name, ""))
        elif flag is not None and not flag.many and not flag.bare and not unfinished(value) and value not in ("True", "False", "None"):
            wrong = judge_value(flag, value) if flag.kind in (Kind.INT, Kind.FLOAT, Kind.SIZE, Kind.TEXT) else None
            if wrong is not None and not (flag.kind is Kind.INT and _is_number(value)):
                found += list(_ruled(teller, Problem(wrong, key, value[:SHOWN], flag.choices, flag=flag)))
    return Parsed(flags, {}, start.command.model), found


def _is_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True
