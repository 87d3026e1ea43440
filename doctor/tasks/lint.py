"""`doctor lint`: commands that start vLLM, judged without running them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import open_host, open_logs, rulebook, selection
from doctor.tasks.examined import reported
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.report.progress import Progress


def run(
    options: Options, files: Sequence[str], words: Sequence[str], vllm_version: str | None, recorded: str | None, root: str | None, python: str | None
) -> Answer:
    """Judges commands that start vLLM, without running them."""
    from doctor.lint.choose import named_release
    from doctor.lint.examine import Input, examine_commands
    from doctor.report.progress import Progress

    if not files and not words:
        raise Refused(options.speak("lint_nothing"))
    if vllm_version is not None and named_release(vllm_version) is None:
        raise Refused(options.speak("lint_bad_version", version=vllm_version))
    book = rulebook()
    chosen, problems = selection(options, book), list[str]()
    host = open_host(options, recorded, root)
    with Progress(options.speak, options.detail) as progress:
        inputs = [Input(label, text, folder=_folder(label)) for label, text in _texts(options, files, problems, progress)]
        inputs += [Input(options.speak("lint_command_line"), words=tuple(clean(word) for word in words), folder=os.getcwd())] if words else []
        linted = examine_commands(inputs, host, book, chosen, python=python, version=vllm_version, heard=progress.heard)
    problems += [options.speak("lint_no_command", name=name) for name in linted.empty]
    problems += [options.speak("lint_template", name=name) for name in linted.templates]
    return reported(options, chosen, linted.examination, problems)


def _folder(label: str) -> str:
    """The folder of a file that was named; that of the caller for standard input."""
    return os.path.dirname(os.path.abspath(label)) if os.path.isfile(label) else os.getcwd()


def _texts(options: Options, files: Sequence[str], problems: list[str], progress: Progress) -> Iterator[tuple[str, str]]:
    """(name, text) of each file, as far as `TEXT_LIMIT`; what is cut off is told."""
    from doctor.lint.inputs import TEXT_LIMIT
    from doctor.logscan.sources import all_chunks

    read: dict[str, bytearray] = {}
    for source in open_logs(files):
        kept = read.setdefault(source.label, bytearray())
        for chunk in all_chunks([source], problems, progress.read):
            if len(kept) + len(chunk.data) > TEXT_LIMIT:
                problems.append(options.speak("lint_too_long", name=source.label, megabytes=TEXT_LIMIT // 2**20))
                kept += chunk.data[: TEXT_LIMIT - len(kept)]
                break
            kept += chunk.data
    yield from ((label, data.decode("utf-8", "replace")) for label, data in read.items())
