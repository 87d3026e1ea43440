"""`doctor watch`: follows a server, recomputes a recorded watch, or sums up what a memory tool wrote."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_host, rulebook, selection
from doctor.tasks.watch_asked import Asked, seconds, settings_for
from doctor.text import clean

if TYPE_CHECKING:
    from doctor.watch.session import Listener, Result, Session
    from doctor.watch.watcher import Watcher

CANNOT = 3


def run(
    options: Options, files: Sequence[str], pids: Sequence[int], url: str | None, log: str | None, recorded: str | None, root: str | None, every: str,
    lasting: str | None, warmup: str | None, least: str | None, npu_every: str, samples: str | None, stream: bool, textfile: str | None, svg: str | None,
    action: str | None, wait: bool,
) -> Answer:  # fmt: skip
    """Watches, or what else was asked for."""
    span = seconds(options, lasting) if lasting is not None else None
    interval = seconds(options, every)
    asked = Asked(
        options, tuple(files), tuple(pids), url or "", os.path.abspath(log) if log else "", root, interval, span, seconds(options, npu_every),
        settings_for(options, span, warmup, least), samples or "", stream, textfile or "", svg or "", wait,
    )  # fmt: skip
    if options.only or options.skip:
        selection(options, rulebook())  # a misspelt name is told now, not after hours
    if interval < 1:
        raise Refused(asked.speak("too_often"))
    if files:
        return _summed(asked)
    if recorded is not None:
        return _recomputed(asked, Path(recorded))
    if action is not None:
        return _background(asked, action)
    return _live(asked)


def _summed(asked: Asked) -> Answer:
    """What memory tools wrote."""
    from doctor.watch.toolfiles import as_object, lines, read_all

    found, problems = read_all(asked.files, asked.speak)
    if not found:
        raise Refused(" ".join(problems))
    code = CANNOT if problems else 0
    if asked.options.as_json:
        answer = enveloped(asked.options, code, watch={"tools": [as_object(summary, path, asked.speak) for path, summary in found], "problems": problems})
        return answer
    text = "\n\n".join("\n".join(lines(summary, path, asked.options.style, asked.speak)) for path, summary in found)
    return Answer("\n".join([text, *problems]) + "\n", code)


def _recomputed(asked: Asked, path: Path) -> Answer:
    from doctor.watch.watcher import recomputed

    try:
        session = recomputed(path, asked.settings, _streamer(asked))
    except BrokenPipeError:
        return Answer("")  # whoever reads the stream has enough
    except (OSError, ValueError) as problem:
        raise Refused(asked.speak("cannot_read", path=clean(str(path)), why=getattr(problem, "strerror", None) or str(problem))) from None
    if not session.history.count:
        raise Refused(asked.speak("no_samples", path=clean(str(path))))
    return _reported(asked, session, clean(str(path)), {}, clean(path.name))


def _live(asked: Asked) -> Answer:
    from doctor.watch.sampler import Sampler, Target
    from doctor.watch.watcher import Watcher

    host = open_host(asked.options, None, asked.root)
    listed = host.processes()
    for pid in asked.pids:
        if isinstance(listed, tuple) and all(process.pid != pid for process in listed):
            raise Refused(asked.speak("no_pid", pid=pid))
    sampler = Sampler(host, Target(asked.pids, asked.url, asked.log), asked.every, own=os.getpid(), npu_every=asked.npu_every or float("inf"))
    path = _sample_path(asked)
    watcher = Watcher(host, sampler, asked.settings, path, _streamer(asked))
    watcher.resume()
    if not _loop(asked, watcher):
        raise Refused(asked.speak("nothing_to_watch"))
    watcher.finish()
    return _reported(asked, watcher.session, clean(str(path)), watcher.problems, host.label)


def _sample_path(asked: Asked) -> Path:
    from doctor.watch.background import prune, state_folder

    if asked.samples:
        return Path(os.path.abspath(asked.samples))
    folder = state_folder(os.environ, os.geteuid())
    prune(folder)
    return folder / f"watch-{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{os.getpid()}.ndjson"


def _loop(asked: Asked, watcher: Watcher) -> bool:
    """Samples until the time is over, a signal comes, or whoever reads the stream has gone. False where there was nothing to watch from the start."""
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)} if _main_thread() else {}
    begin = time.monotonic()
    due = begin
    try:
        while not stop.is_set():
            stalls = len(watcher.session.stalls)
            sample = watcher.step()
            if len(watcher.session.stalls) > stalls:
                watcher.session.judged()  # a stall is told at once
            if not sample.processes and not sample.metrics and not asked.url and not asked.log and not asked.wait and watcher.session.history.count == 1:
                return False
            _meanwhile(asked, watcher)
            due = max(due + asked.every, time.monotonic())
            if asked.lasting is not None and due - begin > asked.lasting:
                stop.wait(max(0.0, begin + asked.lasting - time.monotonic()))
                break
            stop.wait(due - time.monotonic())
    except BrokenPipeError:
        pass
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return True


def _main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()


def _meanwhile(asked: Asked, watcher: Watcher) -> None:
    """The textfile, and a line on standard error."""
    session = watcher.session
    first = session.history.count == 1
    if asked.textfile and (first or session.fresh):
        _write(asked, asked.textfile, "textfile", session)
    last = session.history.last
    if asked.options.detail < 0 or asked.stream or sys.stderr is None or last is None:
        return
    terminal = sys.stderr.isatty()
    if terminal or first or session.fresh:
        from doctor.watch.render import progress

        memory = sum(process.private or 0 for process in last.processes)
        line = clean(progress(session.verdict, session.history.seconds, len(last.processes), memory, (last.metrics or {}).get("running"), asked.speak))
        sys.stderr.write(f"\r\x1b[K{line}" if terminal else line + "\n")
        sys.stderr.flush()


def _streamer(asked: Asked) -> Listener | None:
    if not asked.stream:
        return None
    from doctor.watch.as_json import stream_line

    out = sys.__stdout__

    def heard(kind: str, value: Any) -> None:
        line = stream_line(kind, value)
        if line is not None and out is not None:
            out.write(line + "\n")
            out.flush()

    return heard


def _write(asked: Asked, path: str, kind: str, session: Session, result: Result | None = None) -> str:
    """Writes the textfile or the plot; why that failed."""
    from doctor.watch.svg import plot
    from doctor.watch.textfile import exposition, write_whole

    try:
        write_whole(Path(path), plot(session, asked.speak) if kind == "svg" else exposition(result or session.result()))
    except OSError as problem:
        return f"{clean(path)}: {problem.strerror}"
    return ""


def _reported(asked: Asked, session: Session, path: str, problems: dict[str, str], label: str) -> Answer:
    """The final report in the face that was asked for, and the exit code."""
    from doctor.report import json_format, model
    from doctor.report.envelope import dumps
    from doctor.watch.as_json import watch_object
    from doctor.watch.render import render

    options = asked.options
    book = rulebook()
    result = session.result(book, selection(options, book))
    unwritten = [_write(asked, name, kind, session, result) for name, kind in ((asked.textfile, "textfile"), (asked.svg, "svg")) if name]
    problems = {**problems, **{f"output {index}": why for index, why in enumerate(unwritten) if why}}
    code = _exit_code(options, result, bool(any(unwritten)))
    if sys.stderr is not None and sys.stderr.isatty() and not asked.stream:
        sys.stderr.write("\r\x1b[K")
    if asked.stream:
        return Answer(json.dumps({"type": "result", "exit_code": code, **watch_object(result, path, problems)}, ensure_ascii=False, allow_nan=False) + "\n", code)
    if options.as_json:
        assert result.examination is not None
        run = model.Run(options.command, options.started, options.language, fail_on=options.fail_on)
        report = model.build(run, result.examination, model.HostSummary(label or "watch", "host"))
        whole = json.loads(json_format.render(replace(report, exit_code=code)))
        whole["watch"] = watch_object(result, path, problems)
        return Answer(dumps(whole), code)
    text = render(result, options.style, asked.speak, options.language, host=label, problems=problems, path=path, detail=options.detail)
    return Answer(text, code)


def _exit_code(options: Options, result: Result, unwritten: bool) -> int:
    from doctor.report.model import THRESHOLDS

    seen = any(each.key.pid for group in result.groups for each in group.members) or any(signal.state != "unknown" for signal in result.signals)
    if unwritten or not (seen or result.stalls):
        return CANNOT
    threshold, worst = THRESHOLDS[options.fail_on], result.worst
    return 1 if threshold is not None and worst is not None and worst >= threshold else 0


def _background(asked: Asked, action: str) -> Answer:
    from doctor.watch import background
    from doctor.watch.judge import Settings
    from doctor.watch.watcher import recomputed

    folder = background.state_folder(os.environ, os.geteuid())
    if action == "systemd":
        text = background.unit([*_arguments(asked), "--samples", asked.samples or "/var/lib/ascend-doctor/watch/watch.ndjson"])
        return enveloped(asked.options, output=text) if asked.options.as_json else Answer(text)
    found = background.running(folder)
    if action == "start":
        if found is not None:
            raise Refused(asked.speak("already", pid=found.pid, path=found.samples))
        settings = asked.settings
        started = background.start(folder, _sample_path(asked), _arguments(asked), (settings.warmup, settings.least_suspect, settings.least_leak))
        if isinstance(started, str):
            raise Refused(asked.speak("could_not_start", why=started))
        text = asked.speak("started_background", pid=started.pid, path=started.samples) + "\n"
        return enveloped(asked.options, output=text) if asked.options.as_json else Answer(text)
    last = found or (background.recorded(folder) if action == "stop" else None)
    if last is None:
        raise Refused(asked.speak("not_running"))
    if found is not None and action == "stop":
        background.stop(found)
    try:
        session = recomputed(Path(last.samples), Settings(*last.settings))
    except OSError as problem:
        raise Refused(asked.speak("cannot_read", path=last.samples, why=problem.strerror)) from None
    return _reported(asked, session, last.samples, {}, "")


def _arguments(asked: Asked) -> list[str]:
    """The command line of a watch that does the same."""
    words = ["--every", f"{asked.every:g}s", "--npu-every", f"{asked.npu_every:g}s", "--warmup", f"{asked.settings.warmup:g}s", "--least", f"{asked.settings.least_leak:g}s"]
    words += [word for pid in asked.pids for word in ("--pid", str(pid))]
    words += ["--lang", asked.options.language, "--quiet"]
    for name, value in (("--url", asked.url), ("--log", asked.log), ("--root", asked.root), ("--textfile", asked.textfile and os.path.abspath(asked.textfile))):
        words += [name, value] if value else []
    return words + (["--for", f"{asked.lasting:g}s"] if asked.lasting is not None else [])
