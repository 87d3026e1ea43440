"""The promises of the command line, kept by real runs: standard output is the result, one JSON object with --json, and the exit codes."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import doctor
from doctor.host.plain import PlainHost
from doctor.report.schema import text as schema_text

ROOT = Path(__file__).resolve().parents[1]
VALID = jsonschema.Draft202012Validator(json.loads(schema_text()))

PACK = {
    "demo-streams-gone": """
id: demo-streams-gone
severity: fail
title: {en: The demo streams ran out., zh: 演示用的 stream 已耗尽。}
why: {en: They are few., zh: 数量有限。}
decide:
- log: 'demo streams exhausted \\(?(?P<count>\\d{0,9})'
fixes:
- id: fewer
  title: {en: Use fewer, zh: 少用一些}
  safety: ask
  steps: ['vllm serve MODEL --max-num-seqs 16']
formerly: [demo-stream-budget]
""",
    "demo-slow": """
id: demo-slow
severity: warn
title: {en: The demo is slow., zh: 演示很慢。}
why: {en: Because., zh: 原因如此。}
decide:
- log: 'demo is slow'
""",
    "demo-arch": """
id: demo-arch
severity: note
title: {en: The machine is a VAX., zh: 这台机器是 VAX。}
why: {en: Because., zh: 原因如此。}
decide:
- when: {machine.arch: vax}
""",
    "fragile-rule": """
id: fragile-rule
severity: fail
title: {en: It breaks., zh: 它会出错。}
why: {en: Because., zh: 原因如此。}
""",
}
BROKEN_LOGIC = "def judge():\n    print('stray words of a rule')\n    raise ZeroDivisionError('fragile')\n"

NO_BUILT_IN_RULES = """
import importlib.util, sys
spec = importlib.util.spec_from_file_location("doctor.rules", {folder!r} + "/__init__.py", submodule_search_locations=[{folder!r}])
sys.modules["doctor.rules"] = importlib.util.module_from_spec(spec)
"""
"""Puts an empty package in the place of the rules that ship, with the tables of error codes only."""


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rule pack as a third party installs one, and no other rules, so that these tests do not depend on what doctor knows."""
    folder = tmp_path_factory.mktemp("pack")
    (folder / "none").mkdir()
    (folder / "none" / "__init__.py").touch()
    (folder / "none" / "data").symlink_to(ROOT / "rules" / "data")
    (folder / "sitecustomize.py").write_text(NO_BUILT_IN_RULES.format(folder=str(folder / "none")), encoding="utf-8")
    (folder / "demo_rules").mkdir()
    (folder / "demo_rules" / "__init__.py").touch()
    for name, text in PACK.items():
        area = folder / "demo_rules" / name.partition("-")[0]
        area.mkdir(exist_ok=True)
        (area / f"{name}.yaml").write_text(text, encoding="utf-8")
    (folder / "demo_rules" / "fragile" / "fragile_rule.py").write_text(BROKEN_LOGIC, encoding="utf-8")
    info = folder / "demo_rules-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-rules\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[doctor.rules]\ndemo = demo_rules\n", encoding="utf-8")
    return folder


class Doctor:
    """Runs doctor as a user does, with the demo rules installed."""

    def __init__(self, pack: Path, cwd: Path) -> None:
        self.cwd = cwd
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON", "NO_COLOR"))}
        self.environ = {**kept, "PYTHONPATH": f"{pack}{os.pathsep}{ROOT}", "XDG_CACHE_HOME": str(pack / "cache"), "TERM": "xterm", "LANG": "C.UTF-8"}

    def start(self, *arguments: str | Path, **settings: Any) -> subprocess.Popen[bytes]:
        environ = {**self.environ, **settings.pop("env", {})}
        streams: dict[str, Any] = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **settings}
        return subprocess.Popen([sys.executable, "-m", "doctor", *map(str, arguments)], cwd=self.cwd, env=environ, **streams)

    def __call__(self, *arguments: str | Path, data: bytes | None = None, **settings: Any) -> subprocess.CompletedProcess[str]:
        if data is not None:
            settings["stdin"] = subprocess.PIPE
        process = self.start(*arguments, **settings)
        out, err = process.communicate(data, timeout=120)
        return subprocess.CompletedProcess(process.args, process.returncode, (out or b"").decode(), (err or b"").decode("utf-8", "replace"))

    def json(self, *arguments: str | Path, data: bytes | None = None, **settings: Any) -> tuple[int, Any]:
        """(exit code, the object): exactly one, valid by the schema, with the same exit code in it."""
        done = self(*arguments, "--json", data=data, **settings)
        told = json.loads(done.stdout)
        VALID.validate(told)
        assert told["run"]["exit_code"] == done.returncode
        return done.returncode, told


@pytest.fixture
def run(pack: Path, tmp_path: Path) -> Doctor:
    return Doctor(pack, tmp_path)


def rules_of(told: Any) -> list[str]:
    return [cause["rule"] for cause in told["causes"]]


SICK = b"ok\n(EngineCore_DP0 pid=7) ERROR demo streams exhausted (12)\ndemo is slow\n"


def log(tmp_path: Path, data: bytes, name: str = "serve.log") -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


# Logs


def test_a_sick_log(run: Doctor, tmp_path: Path) -> None:
    done = run("log", log(tmp_path, SICK), "--only", "demo")
    assert done.returncode == 1
    assert "1. FAIL  The demo streams ran out." in done.stdout
    assert f"{tmp_path / 'serve.log'}:2" in done.stdout
    assert "\nvllm serve MODEL --max-num-seqs 16\n" in "\n" + "\n".join(line.strip() for line in done.stdout.splitlines()) + "\n"
    assert "\x1b" not in done.stdout and done.stderr == ""


def test_the_same_as_json(run: Doctor, tmp_path: Path) -> None:
    code, told = run.json("log", log(tmp_path, SICK), "--only", "demo")
    assert code == 1
    assert rules_of(told) == ["demo-streams-gone", "demo-slow"]
    assert told["host"]["kind"] == "text" and told["run"]["selection"] == {"only": ["demo"], "skip": []}


def test_standard_input(run: Doctor) -> None:
    code, told = run.json("log", "-", "--only", "demo", data=SICK)
    assert code == 1 and told["host"]["label"] == "standard input"


def test_several_files_are_one_report(run: Doctor, tmp_path: Path) -> None:
    healthy, sick = log(tmp_path, b"all is well\n", "a.log"), log(tmp_path, SICK, "b.log")
    code, told = run.json("log", healthy, sick, "--only", "demo")
    assert code == 1 and told["causes"][0]["evidence"][0]["source"] == str(sick)


def test_healthy_text_is_told_to_be_so(run: Doctor, tmp_path: Path) -> None:
    done = run("log", log(tmp_path, b"all is well\n"), "--only", "demo")
    assert done.returncode == 0 and "Nothing found in 1 lines" in done.stdout


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [("fail", 0), ("warn", 1), ("note", 1), ("never", 0)],
)
def test_fail_on(run: Doctor, tmp_path: Path, fail_on: str, code: int) -> None:
    assert run("log", log(tmp_path, b"demo is slow\n"), "--only", "demo", "--fail-on", fail_on).returncode == code


HOSTILE = {
    "empty": (b"", 3),
    "markup": (b"[/nope] [bold red]\n" + SICK, 1),
    "escapes": (b"\x1b]0;title\x07\x1b[31m demo streams \x1b[0mexhausted \x9b2J\xe2\x80\xae\n", 1),
    "one long line": (b"x" * 10_000_000 + b" demo streams exhausted " + b"y" * 100, 1),
    "nul bytes": (b"\x00\x00" + SICK + b"\x00" * 5000, 1),
    "invalid utf-8": (b"\xfd\x80\x81\n" + SICK, 1),
    "utf-16": (("\ufeff" + SICK.decode()).encode("utf-16-le"), 1),
    "gbk": ("错误：模型加载失败\n".encode("gbk") + SICK, 1),
    "crlf": (SICK.replace(b"\n", b"\r\n"), 1),
    "random": (bytes(range(256)) * 400 + b"\n", 0),
    "gzip": (gzip.compress(SICK), 1),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_whatever_a_file_holds(run: Doctor, tmp_path: Path, kind: str) -> None:
    data, wanted = HOSTILE[kind]
    path = log(tmp_path, data, "x.log.gz" if kind == "gzip" else "x.log")
    code, told = run.json("log", path, "--only", "demo")
    assert code == wanted
    assert rules_of(told)[:1] == (["demo-streams-gone"] if wanted == 1 else [])
    done = run("log", path, "--only", "demo")
    assert done.returncode == wanted
    assert not set(done.stdout) & set("\x1b\x00\x07\x9b\u202e\r")


def test_a_damaged_file_is_told_and_the_rest_is_read(run: Doctor, tmp_path: Path) -> None:
    damaged = log(tmp_path, gzip.compress(os.urandom(50_000))[:20_000], "a.gz")
    code, told = run.json("log", damaged, log(tmp_path, SICK), "--only", "demo")
    assert code == 3
    assert rules_of(told)[:1] == ["demo-streams-gone"] and "a.gz" in told["run"]["problems"][0]


# What is refused


def refusals(tmp_path: Path) -> dict[str, Sequence[str | Path]]:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "readme").touch()
    os.mkfifo(tmp_path / "fifo")
    return {
        "no such command": ["nonsense"],
        "no such option": ["check", "--nonsense"],
        "an option without its value": ["check", "--from"],
        "a bad choice": ["check", "--fail-on", "sometimes"],
        "a bad number": ["check", "--timeout-scale", "nan"],
        "no file": ["log"],
        "a missing file": ["log", tmp_path / "missing"],
        "a folder without logs": ["log", tmp_path / "folder"],
        "a fifo": ["log", tmp_path / "fifo"],
        "a device": ["log", "/dev/null"],
        "nothing selected": ["check", "--only", "demo-stream-gone"],
        "an empty selection": ["check", "--only", "demo-slow", "--skip", "demo"],
        "an unknown name": ["explain", "demo-streamsgone"],
        "no recording": ["check", "--from", tmp_path / "folder"],
        "no root": ["check", "--root", tmp_path / "missing"],
        "a recording with a root": ["check", "--from", tmp_path, "--root", tmp_path],
        "a folder that is not empty": ["record", tmp_path / "folder"],
        "a folder that cannot be": ["record", "/dev/null/x"],
        "an unknown shell": ["completion", "tcsh"],
        "text and a host": ["stack", "--root", "/", tmp_path / "missing"],
    }


KINDS = (
    "no such command", "no such option", "an option without its value", "a bad choice", "a bad number", "no file", "a missing file",
    "a folder without logs", "a fifo", "a device", "nothing selected", "an empty selection", "an unknown name", "no recording", "no root",
    "a recording with a root", "a folder that is not empty", "a folder that cannot be", "an unknown shell", "text and a host",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_usage_error(run: Doctor, tmp_path: Path, kind: str) -> None:
    arguments = refusals(tmp_path)[kind]
    done = run(*arguments)
    assert done.returncode == 2 and done.stdout == ""
    assert done.stderr.startswith("doctor: ") and "Traceback" not in done.stderr
    code, told = run.json(*arguments) if kind != "an option without its value" else run.json("--lang", "en", *arguments)
    assert code == 2
    if kind != "an option without its value":
        assert told["error"]["kind"] == "usage" and told["error"]["message"] in done.stderr


def test_the_nearest_name_is_offered(run: Doctor, tmp_path: Path) -> None:
    assert "demo-streams-gone" in run("check", "--only", "demo-stream-gone").stderr
    assert "demo-streams-gone" in run("explain", "demo-streamsgone").stderr
    log(tmp_path, SICK)
    assert "doctor log serve.log" in run("serve.log").stderr


def test_a_broken_rule_costs_the_exit_code_and_stray_output_goes_nowhere(run: Doctor, tmp_path: Path) -> None:
    code, told = run.json("log", log(tmp_path, SICK), "--only", "demo,fragile")
    assert code == 3
    assert rules_of(told)[0] == "demo-streams-gone"
    assert {verdict["rule"]: verdict["outcome"] for verdict in told["verdicts"]}["fragile-rule"] == "broken"
    assert "stray" not in run("log", tmp_path / "serve.log", "--only", "demo,fragile").stdout


# Hosts


def plain_host(folder: Path) -> Path:
    (folder / "files" / "etc").mkdir(parents=True)
    (folder / "files" / "etc" / "os-release").write_text('ID=openeuler\nVERSION_ID="22.03"\nPRETTY_NAME="openEuler 22.03"\n', encoding="utf-8")
    (folder / "commands.txt").write_text("$ uname -m\nvax\n[exit 0]\n\n", encoding="utf-8")
    assert PlainHost(folder)
    return folder


def test_this_machine(run: Doctor) -> None:
    code, told = run.json("--only", "demo-arch")
    assert code == 0
    assert told["host"]["kind"] == "host" and told["host"]["arch"]
    assert [verdict["outcome"] for verdict in told["verdicts"]] == ["clear"]
    assert told["run"]["command"] == "check"


def test_without_a_terminal_doctor_checks(run: Doctor) -> None:
    done = run("--only", "demo-arch")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("host ") and "Nothing found on this machine" in done.stdout


def test_a_host_written_by_hand(run: Doctor, tmp_path: Path) -> None:
    code, told = run.json("check", "--from", plain_host(tmp_path / "vax"), "--only", "demo-arch", "--fail-on", "note")
    assert code == 1
    assert rules_of(told) == ["demo-arch"]
    assert (told["host"]["label"], told["host"]["arch"], told["host"]["os"]) == ("vax", "vax", "openEuler 22.03")


def test_a_log_beside_a_host(run: Doctor, tmp_path: Path) -> None:
    code, told = run.json("check", "--from", plain_host(tmp_path / "vax"), "--log", log(tmp_path, SICK), "--only", "demo")
    assert code == 1 and rules_of(told) == ["demo-streams-gone", "demo-slow", "demo-arch"]


def test_a_recording_says_the_same_again(run: Doctor, tmp_path: Path) -> None:
    done = run("record", "snapshot", "--only", "demo-arch")
    assert done.returncode == 0 and "doctor check --from snapshot" in done.stdout
    first = run.json("record", "again", "--only", "demo-arch")[1]
    second = run.json("check", "--from", "again", "--only", "demo-arch")[1]
    assert first["recorded"] == "again"
    assert [(v["rule"], v["outcome"], v["why"]) for v in first["verdicts"]] == [(v["rule"], v["outcome"], v["why"]) for v in second["verdicts"]]
    assert first["host"] == second["host"]


# Options, languages, the other commands


def test_options_may_stand_before_the_command(run: Doctor, tmp_path: Path) -> None:
    path = log(tmp_path, SICK)
    done = run("--json", "--only", "demo", "--lang", "zh", "log", path)
    assert done.returncode == 1
    assert json.loads(done.stdout)["causes"][0]["title"] == "演示用的 stream 已耗尽。"


def test_chinese_by_option_and_by_locale(run: Doctor, tmp_path: Path) -> None:
    path = log(tmp_path, SICK)
    for done in (run("log", path, "--only", "demo", "--lang", "zh"), run("log", path, "--only", "demo", env={"LC_ALL": "zh_CN.UTF-8"})):
        assert "FAIL 故障" in done.stdout and "演示用的 stream 已耗尽。" in done.stdout and "处理" in done.stdout
    assert "退出码" in run("--lang", "zh", "--help").stdout
    assert "没有匹配" in run("check", "--only", "zzz", "--lang", "zh").stderr


def test_a_locale_that_cannot_show_it_all_is_no_error(run: Doctor, tmp_path: Path) -> None:
    done = run("log", log(tmp_path, "错误 demo streams exhausted ×\n".encode()), "--only", "demo", env={"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 1 and "demo-streams-gone" in done.stdout
    assert run.json("log", tmp_path / "serve.log", "--only", "demo", env={"PYTHONIOENCODING": "ascii"})[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["check", "--help"], ["rules"], ["rules", "--fields"], ["explain", "demo-slow"], ["explain", "507035"],
     ["completion", "bash"], ["stack"]],
)  # fmt: skip
def test_every_command_speaks_json(run: Doctor, arguments: list[str]) -> None:
    assert run.json(*arguments)[0] == 0


def test_the_version(run: Doctor) -> None:
    assert run("--version").stdout == f"ascend-doctor {doctor.__version__}\n" == run.json("--version")[1]["output"]


def test_the_schema_is_printed(run: Doctor) -> None:
    assert json.loads(run("schema").stdout) == json.loads(schema_text()) == json.loads(run("schema", "--json").stdout)


def test_rules_are_listed_with_their_origin(run: Doctor) -> None:
    listed = {rule["id"]: rule for rule in run.json("rules")[1]["rules"]}
    assert listed["demo-slow"]["origin"] == "demo" and listed["demo-slow"]["kind"] == "log"
    only = run.json("rules", "--only", "fragile")[1]["rules"]
    assert [rule["id"] for rule in only] == ["fragile-rule"]


def test_explain(run: Doctor) -> None:
    assert "The demo streams ran out." in run("explain", "demo-streams-gone").stdout
    assert run("explain", "demo-stream-budget").stdout == run("explain", "demo-streams-gone").stdout
    assert "507035" in run("explain", "507035").stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_for_both_names(run: Doctor, shell: str) -> None:
    script = run("completion", shell).stdout
    assert "_DOCTOR_COMPLETE" in script and "ascend-doctor" in script


def test_completion_completes(run: Doctor) -> None:
    def asked(words: str, at: int) -> list[str]:
        environ = {"_DOCTOR_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(at)}
        return [line.partition(",")[2] for line in run(env=environ).stdout.splitlines()]

    assert asked("doctor expl", 1) == ["explain"]
    assert asked("doctor explain demo-st", 2) == ["demo-streams-gone"]
    assert asked("doctor --json rec", 2) == ["record"]


def test_quiet_and_verbose(run: Doctor, tmp_path: Path) -> None:
    path = log(tmp_path, SICK)
    brief = run("log", path, "--only", "demo", "--quiet")
    assert brief.stdout.splitlines() == ["FAIL  demo-streams-gone: The demo streams ran out.", "WARN  demo-slow: The demo is slow."]
    assert "demo-arch: " not in run("log", path, "--only", "demo").stdout
    assert "demo-arch: " in run("log", path, "--only", "demo", "-v").stdout


# Streams that go away


def test_a_reader_that_goes_away_is_no_error(run: Doctor) -> None:
    process = run.start("rules", "--fields")
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_closed_streams(run: Doctor, tmp_path: Path) -> None:
    path = log(tmp_path, SICK)
    for closing in (">&-", "2>&-", ">&- 2>&-"):
        command = f'"{sys.executable}" -m doctor log "{path}" --only demo {closing}'
        done = subprocess.run(["sh", "-c", command], cwd=tmp_path, env=run.environ, capture_output=True, timeout=60, check=False)
        assert done.returncode == 1 and done.stderr == b""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
def test_a_full_disk_is_told(run: Doctor, tmp_path: Path) -> None:
    with open("/dev/full", "wb") as full:
        done = run("log", log(tmp_path, SICK), "--only", "demo", stdout=full)
    assert done.returncode == 3 and "No space left" in done.stderr


def test_an_interrupt(run: Doctor) -> None:
    """Standard input stays open, so that doctor waits for the rest of the log until it is interrupted."""
    import signal

    process = run.start("log", "-", "--only", "demo", "--json", stdin=subprocess.PIPE, env={"PYTHONFAULTHANDLER": ""})
    assert process.stdin is not None
    process.stdin.write(b"x" * 3_000_000)  # more than a pipe holds: when it is written, doctor reads
    process.stdin.flush()
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    told = json.loads(out)
    VALID.validate(told)
    assert process.returncode == 130 and told["error"]["kind"] == "interrupted"


def test_an_internal_error_is_told_in_the_format_that_was_asked_for(run: Doctor, pack: Path, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import doctor.rulebook\ndoctor.rulebook.load = lambda: 1 / 0\n", encoding="utf-8")
    environ = {"PYTHONPATH": f"{tmp_path}{os.pathsep}{pack}{os.pathsep}{ROOT}"}
    code, told = run.json("check", env=environ)
    assert code == 3 and told["error"]["kind"] == "internal"
    done = run("check", env=environ)
    assert done.returncode == 3 and done.stdout == "" and "Traceback" not in done.stderr
    assert "Traceback" in run("check", "-v", env=environ).stderr


WHOLE = ("--skip", "fragile-rule")
"""Without the rule that breaks, whose exit code would outweigh every other."""


def test_a_second_format_goes_to_its_file(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, SICK)
    done = run("log", "serve.log", *WHOLE, "--output", "junit=out/report.xml", "--output", "sarif=r.sarif")
    assert done.returncode == 3 and "out/report.xml" in done.stdout
    assert json.loads((tmp_path / "r.sarif").read_text())["runs"][0]["results"][0]["ruleId"] == "demo-streams-gone"
    (tmp_path / "out").mkdir()
    assert run("log", "serve.log", *WHOLE, "--output", "junit=out/report.xml").returncode == 1
    assert (tmp_path / "out" / "report.xml").read_text().startswith("<?xml")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["report.xml"]


def test_a_file_that_others_read_keeps_its_place(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, SICK)
    (tmp_path / "real.prom").write_text("old")
    (tmp_path / "link.prom").symlink_to("real.prom")
    run("log", "serve.log", *WHOLE, "--output", "prometheus=link.prom")
    assert (tmp_path / "link.prom").is_symlink() and "doctor_exit_code 1" in (tmp_path / "real.prom").read_text()


@pytest.mark.parametrize("asked", ["junit", "junit=", "pdf=x", "=x"])
def test_an_output_that_is_no_pair_is_a_usage_error(run: Doctor, tmp_path: Path, asked: str) -> None:
    log(tmp_path, SICK)
    done = run("log", "serve.log", *WHOLE, "--output", asked)
    assert done.returncode == 2 and "FORMAT=FILE" in done.stderr and not done.stdout


def test_the_format_of_standard_output(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, SICK)
    assert run("log", "serve.log", *WHOLE, "--format", "tap").stdout.startswith("TAP version 13")
    assert run("log", "serve.log", *WHOLE, "--format", "nagios").returncode == 2
    assert json.loads(run("log", "serve.log", *WHOLE, "--format", "json").stdout)["causes"]
    assert run("log", "serve.log", *WHOLE, "--json", "--format", "tap").returncode == 2


def test_a_configuration_gives_options_and_the_command_line_wins(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, b"demo is slow\n")
    (tmp_path / "site.toml").write_text('fail-on = "warn"\n')
    assert run("log", "serve.log", *WHOLE).returncode == 0
    assert run("log", "serve.log", *WHOLE, "--config", "site.toml").returncode == 1
    assert run("log", "serve.log", *WHOLE, "--config", "site.toml", "--fail-on", "fail").returncode == 0


def test_a_suppression_with_its_reason_is_told_and_does_not_count(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, SICK)
    (tmp_path / "site.toml").write_text('[[suppress]]\nrule = "demo-streams-*"\nreason = "the old ward"\nuntil = 2999-01-01\n')
    code, told = run.json("log", "serve.log", *WHOLE, "--config", "site.toml")
    assert (code, rules_of(told)) == (0, ["demo-slow"])
    assert [(item["rule"], item["reason"], item["until"]) for item in told["suppressed"]] == [("demo-streams-gone", "the old ward", "2999-01-01")]
    assert "the old ward" in run("log", "serve.log", *WHOLE, "--config", "site.toml").stdout


def test_an_expired_suppression_counts_again_and_says_so(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, SICK)
    (tmp_path / "site.toml").write_text('[[suppress]]\nrule = "demo-streams-*"\nreason = "x"\nuntil = 2020-01-01\n')
    done = run("log", "serve.log", *WHOLE, "--config", "site.toml")
    assert done.returncode == 1 and "2020-01-01" in done.stderr


@pytest.mark.parametrize("text", ['[severity]\nno-such-rule = "note"\n', '[[suppress]]\nrule = "demo-strems-gone"\nreason = "x"\n', "fial-on = 1\n"])
def test_a_configuration_that_names_nothing_real_is_refused(run: Doctor, tmp_path: Path, text: str) -> None:
    log(tmp_path, SICK)
    (tmp_path / "site.toml").write_text(text)
    code, told = run.json("log", "serve.log", *WHOLE, "--config", "site.toml")
    assert code == 2 and "site.toml" in told["error"]["message"]


def test_a_baseline_counts_only_what_is_new(run: Doctor, tmp_path: Path) -> None:
    log(tmp_path, b"demo is slow\n", "before.log")
    log(tmp_path, SICK)
    code, told = run.json("baseline", "write", "--from", str(tmp_path), "known.json")
    assert code == 2 and not (tmp_path / "known.json").exists()
    code, _ = run.json("baseline", "write", "known.json", "--log", "before.log")
    assert code == 0
    code, told = run.json("log", "serve.log", *WHOLE, "--baseline", "known.json", "--fail-on", "warn")
    assert code == 1 and rules_of(told) == ["demo-streams-gone"] and [item["rule"] for item in told["suppressed"]] == ["demo-slow"]
    assert run("log", "before.log", *WHOLE, "--baseline", "known.json", "--fail-on", "warn").returncode == 0


def test_a_baseline_never_replaces_another_file(run: Doctor, tmp_path: Path) -> None:
    path = log(tmp_path, b'{"mine": 1}', "precious.json")
    assert run("baseline", "write", "precious.json").returncode == 2
    assert path.read_bytes() == b'{"mine": 1}'


def test_the_configuration_in_force_is_shown_with_where_it_comes_from(run: Doctor, tmp_path: Path) -> None:
    (tmp_path / "site.toml").write_text('profile = "quick"\n')
    code, told = run.json("config", "--config", "site.toml")
    assert code == 0 and told["config"]["path"] == "site.toml" and told["config"]["values"]["profile"] == "quick"
    lines = run("config", "--config", "site.toml").stdout.splitlines()
    assert "profile = quick   (site.toml)" in lines and "fail-on = fail   (default)" in lines
