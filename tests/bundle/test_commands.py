"""`doctor bundle`, `check --from`, `collect`, `ticket` and `diff` as a user calls them."""

from __future__ import annotations

import json
import re
import shutil
import stat
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from click.testing import CliRunner, Result

from doctor.commands import build
from doctor.tasks import Answer, Refused
from tests.fixture_cases import FIXTURES

A2, OLD, A3 = (str(FIXTURES / "hosts" / name) for name in ("a2-healthy", "a2-old-driver", "a3-healthy"))
SCHEMA = json.loads((FIXTURES.parent / "doctor" / "report" / "report.schema.json").read_text(encoding="utf-8"))


def run(*argv: str, language: str = "en") -> Answer:
    """The answer of a command; what a user asked wrongly is raised."""
    group = build(language)
    answer = group.main(list(argv), standalone_mode=False, obj=language)
    assert isinstance(answer, Answer)
    return answer


def json_of(*argv: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(run(*argv, "--json").text)
    jsonschema.validate(value, SCHEMA)
    return value


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_bundle_is_written_and_read(here: Path) -> None:
    answer = run("bundle", "--from", A2, "out.tar.zst")
    assert "doctor check --from out.tar.zst" in answer.text and answer.exit_code == 0
    assert stat.S_IMODE((here / "out.tar.zst").stat().st_mode) == 0o600
    live, replayed = json_of("check", "--from", A2), json_of("check", "--from", "out.tar.zst")
    assert [cause["rule"] for cause in live["causes"]] == [cause["rule"] for cause in replayed["causes"]]
    assert [(v["rule"], v["outcome"]) for v in live["verdicts"]] == [(v["rule"], v["outcome"]) for v in replayed["verdicts"]]


def test_a_preview_writes_nothing(here: Path) -> None:
    told = json_of("bundle", "--from", A2, "--dry-run")["bundle"]
    items = {item["id"]: item for item in told["items"]}
    assert items["commands:npu-smi"]["size"] > 1000 and items["commands:hccn_tool"]["masked"]["address"] >= 8
    assert "commands:npu-smi" in run("bundle", "--from", A2, "--dry-run").text
    assert not list(here.iterdir())


def test_items_can_be_left_out(here: Path) -> None:
    log = here / "serve.log"
    log.write_text("(EngineCore_DP0 pid=1) ERROR 11-30 09:38:38 [core.py:710] RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB\n")
    told = json_of("bundle", "--from", A2, "--log", str(log), "--leave-out", "log:*", "--leave-out", "commands:hccn_tool", "out.tar.gz")["bundle"]
    assert {item["id"].partition(":")[0] for item in told["items"] if item["left_out"]} == {"log", "commands"}
    import tarfile

    with tarfile.open("out.tar.gz") as archive:
        names = archive.getnames()
        texts = b"".join(archive.extractfile(name).read() for name in names)  # type: ignore[union-attr]
    assert not [name for name in names if name.startswith(("logs/", "commands/hccn"))]
    assert b"Tried to allocate 2.00 GiB" not in texts, "the report does not quote what was left out"
    with pytest.raises(Refused, match="no item is named"):
        run("bundle", "--from", A2, "--leave-out", "nothing", "x.tar.gz")


def test_raw_says_so_in_its_name_and_an_existing_file_stays(here: Path) -> None:
    run("bundle", "--from", A2, "--profile", "raw", "a.tar.gz")
    assert [path.name for path in here.iterdir()] == ["a-UNREDACTED.tar.gz"]
    before = (here / "a-UNREDACTED.tar.gz").read_bytes()
    with pytest.raises(Refused, match="already"):
        run("bundle", "--from", A2, "--profile", "raw", "a.tar.gz")
    assert (here / "a-UNREDACTED.tar.gz").read_bytes() == before
    with pytest.raises(Refused, match=r"\.tar\.zst or \.tar\.gz"):
        run("bundle", "--from", A2, "a.zip")


def test_logs_of_a_bundle_are_judged_again(here: Path) -> None:
    log = here / "serve.log"
    log.write_text("(EngineCore_DP0 pid=1) ERROR 11-30 09:38:38 [core.py:710] RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.96 GiB total capacity; 58.00 GiB already allocated)\n")
    run("bundle", "--from", A2, "--log", str(log), "out.tar.zst")
    live, replayed = (json_of("check", "--from", *argv) for argv in ((A2, "--log", str(log)), ("out.tar.zst",)))
    rules = [cause["rule"] for cause in live["causes"]]
    assert rules == [cause["rule"] for cause in replayed["causes"]] and any("memory" in rule for rule in rules)


def test_results_are_put_in(here: Path) -> None:
    (here / "smoke.json").write_text(json.dumps({"smoke": {"ok": True, "api_key": "sk-abcdefghijklmnop"}}))
    told = json_of("bundle", "--from", A2, "--include", "smoke.json", "out.tar.gz")["bundle"]
    assert [item["id"] for item in told["items"] if item["id"].startswith("smoke")] == ["smoke:1"]
    import tarfile

    with tarfile.open("out.tar.gz") as archive:
        inside = archive.extractfile("results/01-smoke.json")
        assert inside is not None and json.loads(inside.read()) == {"smoke": {"ok": True, "api_key": "MASKED"}}


def test_this_machine_in_a_bundle(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Live, with the samples of a watch; the report in the bundle is what the bundle gives elsewhere."""
    samples = here / "state" / "ascend-doctor" / "watch" / "watch-20261130T093838Z-1.ndjson"
    samples.parent.mkdir(parents=True)
    samples.write_text('{"t": 1, "argv": ["vllm", "--api-key", "correct-horse-7"]}\n')
    monkeypatch.setenv("XDG_STATE_HOME", str(here / "state"))
    run("bundle", "out.tar.gz")
    import tarfile

    with tarfile.open("out.tar.gz") as archive:
        inside = {name: archive.extractfile(name).read() for name in archive.getnames()}  # type: ignore[union-attr]
    assert b"correct-horse-7" not in b"".join(inside.values()) and b'"t": 1' in inside["results/watch.ndjson"]
    told, again = json.loads(inside["report.json"]), json_of("check", "--from", "out.tar.gz")
    assert {v["rule"]: v["outcome"] for v in told["verdicts"]} == {v["rule"]: v["outcome"] for v in again["verdicts"]}
    manifest = json.loads(inside["manifest.json"])["bundle"]
    assert manifest["profile"] == "support" and manifest["items"] and manifest["left_out"] == []


def test_what_is_no_bundle_is_refused(here: Path) -> None:
    (here / "a.log").write_text("INFO\n" * 500)
    for name, says in (("a.log", "doctor log"), ("missing.tar", "does not exist")):
        with pytest.raises(Refused, match=says):
            run("check", "--from", name)


def test_asys_is_checked_as_a_text(here: Path) -> None:
    folder = here / "asys_output_1" / "dfx/log/host/cann/debug/plog"
    folder.mkdir(parents=True)
    (folder / "plog-1.log").write_text("RuntimeError: NPU out of memory. Tried to allocate 2.00 GiB (NPU 0; 60.96 GiB total capacity; 58.00 GiB already allocated)\n")
    (here / "asys_output_1/software_info.txt").write_text("| kernel | 5.10 |\n")
    report = json_of("check", "--from", "asys_output_1")
    assert report["host"]["kind"] == "text" and any("memory" in cause["rule"] for cause in report["causes"])


@pytest.mark.parametrize("language", ["en", "zh"])
def test_ticket_as_markdown(language: str) -> None:
    text = run("ticket", "--from", A2, language=language).text
    assert text.count("<details>") == text.count("</details>") == 1 and text.count("```") == 4
    for field in ("PyTorch version: 2.9", "Is debug build", "OS: openEuler", "GCC version", "Clang version", "CMake version", "Libc version", "Python version: 3.10", "Python platform", "vLLM Version: 0.18", "vLLM Ascend Version: 0.18.0", "ENV Variables", "npu-smi 25.5.2", "CANN", "[pip3] torch", "Architecture"):  # fmt: skip
        assert field in text, field
    assert "HCCL" in text or "ASCEND" in text


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.remote: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.remote += [value for name, value in attrs if name in ("src", "href") and value]


def test_ticket_as_a_page(tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(A2, host, symlinks=True)
    with (host / "commands.txt").open("a") as file:
        file.write("$ gcc --version\n<script>alert(1)</script> & \"x\"\n[exit 0]\n\n")
    text = run("ticket", "--from", str(host), "--format", "html", language="zh").text
    page = Page()
    page.feed(text)
    assert not page.remote and "script" not in page.tags and "&lt;script&gt;" in text and 'lang="zh-CN"' in text


def test_a_fence_cannot_be_closed_by_what_is_in_it(tmp_path: Path) -> None:
    host = tmp_path / "host"
    shutil.copytree(A2, host, symlinks=True)
    with (host / "commands.txt").open("a") as file:
        file.write("$ gcc --version\n````\n[exit 0]\n\n")
    assert "`````text" in run("ticket", "--from", str(host)).text


def test_diff_of_two() -> None:
    told = json_of("diff", A2, OLD)["diff"]
    first = told["differences"][0]
    assert first["section"] == "findings" and first["key"] == "driver-too-old-for-cann" and first["values"] == ["clear", "fail"]
    driver = next(each for each in told["differences"] if each["key"] == "driver.version")
    assert driver["values"] == ["25.5.2", "24.1.rc3"] and "driver-too-old-for-cann" in driver["found"]
    keys = [each["key"] for each in told["differences"]]
    assert keys.index("driver.version") < keys.index("torch"), "what touches a finding comes first"
    assert any(each["section"] == "firmware" and each["key"] == "NPU 0" for each in told["differences"])
    text = run("diff", A2, OLD).text
    assert re.search(r"driver\.version: 25\.5\.2 \| 24\.1\.rc3\n +rules: driver-too-old-for-cann", text)


def test_diff_of_the_same_and_of_a_bundle(here: Path) -> None:
    run("bundle", "--from", A2, "a.tar.zst")
    assert json_of("diff", A2, "a.tar.zst")["diff"]["differences"] == []
    assert json_of("diff", A2, A2)["diff"]["differences"] == []


def test_diff_names_the_odd_one_out() -> None:
    told = json_of("diff", A2, A2, OLD, A2)["diff"]
    driver = next(each for each in told["differences"] if each["key"] == "driver.version")
    assert len(told["labels"]) == len(set(told["labels"])) == 4 and driver["odd"] == [told["labels"][2]]
    assert "odd one out" in run("diff", A2, A2, OLD, A2).text


def test_collect_writes_the_script(here: Path) -> None:
    assert run("collect", "--write", "c.py").exit_code == 0
    assert (here / "c.py").read_text(encoding="utf-8").startswith("#!/usr/bin/env python3") and run("collect").text.startswith("#!/usr/bin/env python3")
    with pytest.raises(Refused):
        run("collect", "--write", "c.py")


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("command", ["bundle", "collect", "ticket", "diff"])
def test_help(command: str, language: str) -> None:
    result: Result = CliRunner().invoke(build(language), [command, "--help"], obj=language)
    assert result.exit_code == 0 and (language == "en" or re.search("[一-鿿]", result.output))
