"""Reads the text format of Prometheus, tolerantly: what is not a sample is left out and counted. Never raises."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MOST = 50_000
"""Samples read of one page; a vLLM with 16 engines has 6,000."""

_NAME = re.compile(r"\s{0,20}([A-Za-z_:][\w:]{0,199})[ \t]{0,20}(\{)?", re.ASCII)
_LABEL = re.compile(r'\s{0,20}([A-Za-z_]\w{0,99})\s{0,5}=\s{0,5}"((?:[^"\\\n]|\\.){0,2000})"\s{0,20}(,?)', re.ASCII)
_VALUE = re.compile(r"\s{0,20}([^\s#]{1,60})")


@dataclass(frozen=True)
class Page:
    """All samples by name: (labels, value). `unread` lines were no samples."""

    samples: Mapping[str, tuple[tuple[Mapping[str, str], float], ...]] = field(default_factory=dict)
    unread: int = 0

    def all(self, name: str) -> tuple[tuple[Mapping[str, str], float], ...]:
        """Samples of a metric under its name with or without the `_total` that newer client libraries add."""
        return self.samples.get(name) or self.samples.get(name + "_total") or ()

    def total(self, name: str, **labels: str) -> float | None:
        """The sum over all samples that have these labels; None where there is none."""
        found = [value for have, value in self.all(name) if all(have.get(key) == want for key, want in labels.items()) and math.isfinite(value)]
        return sum(found) if found else None


def parse(text: str) -> Page:
    """The samples of a page, in order."""
    found: dict[str, list[tuple[Mapping[str, str], float]]] = {}
    unread = count = 0
    for line in text.split("\n"):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        sample = _sample(line)
        if sample is None or count >= MOST:
            unread += 1
            continue
        count += 1
        found.setdefault(sample[0], []).append(sample[1:])
    return Page({name: tuple(samples) for name, samples in found.items()}, unread)


def _sample(line: str) -> tuple[str, Mapping[str, str], float] | None:
    head = _NAME.match(line)
    if head is None:
        return None
    labels: dict[str, str] = {}
    at = head.end()
    if head[2]:
        for name, value, end in _labels(line, at):
            labels[name], at = value, end
        if line[at : at + 1] != "}":
            return None
        at += 1
    number = _VALUE.match(line, at)
    try:
        return None if number is None else (head[1], labels, float(number[1]))
    except ValueError:
        return None


def _labels(line: str, at: int) -> Iterator[tuple[str, str, int]]:
    while (label := _LABEL.match(line, at)) is not None:
        at = label.end()
        yield label[1], _unescaped(label[2]), at
        if not label[3]:
            return


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: "\n" if match[1] == "n" else match[1], text) if "\\" in text else text


__all__ = ["Page", "parse"]
