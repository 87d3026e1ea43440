"""The configuration: which file decides, what it may say, and that each mistake names the file, the key and the remedy."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from doctor.config import BadConfig, find, ignored, load
from doctor.finding import Severity
from doctor.locale import speaker


def written(folder: Path, text: str, name: str = "doctor.toml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_every_key_is_read(tmp_path: Path) -> None:
    config = load(
        written(
            tmp_path,
            """
            fail-on = "warn"
            profile = "quick"
            timeout-scale = 2
            python = "/opt/venv/bin/python"
            log = ["vllm.log", "/var/log/vllm.log"]
            only = ["cann-*"]
            skip = "host-*"
            baseline = "known.json"
            [severity]
            "host-swappiness" = "note"
            [[suppress]]
            rule = "npu-not-present"
            reason = "a runner without cards"
            subject = "NPU *"
            until = 2027-01-31
            [[suppress]]
            rule = "x"
            reason = "y"
            until = "2027-02-01"
            """,
        )
    )
    assert dict(config.options) == {
        "fail_on": "warn", "profile": "quick", "timeout_scale": 2.0, "python": "/opt/venv/bin/python",
        "logs": (str(tmp_path / "vllm.log"), "/var/log/vllm.log"), "only": ("cann-*",), "skip": ("host-*",),
    }  # fmt: skip
    assert config.baseline == str(tmp_path / "known.json")
    assert config.policy.severities == {"host-swappiness": Severity.NOTE}
    assert [(item.rule, item.subject, item.until) for item in config.policy.suppressions] == [
        ("npu-not-present", "NPU *", date(2027, 1, 31)), ("x", "", date(2027, 2, 1)),
    ]  # fmt: skip


def test_a_table_of_pyproject_is_one_too(tmp_path: Path) -> None:
    path = written(tmp_path, '[tool.doctor]\nfail-on = "note"\n', "pyproject.toml")
    assert load(path).options == {"fail_on": "note"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("fial-on = 'warn'", ["fial-on", "fail-on"]),
        ("fail_on = 'warn'", ["fail_on", "fail-on"]),
        ("fail-on = 'error'", ["fail-on", "'error'", "warn"]),
        ("timeout-scale = true", ["timeout-scale", "True"]),
        ("timeout-scale = nan", ["timeout-scale"]),
        ("log = [1]", ["log", "1"]),
        ("severity = 'note'", ["severity"]),
        ("[severity]\nx = 'bad'", ["severity.x", "'bad'"]),
        ("[suppress]\nrule = 'x'", ["suppress"]),
        ("[[suppress]]\nrule = 'x'", ["suppress 1", "reason"]),
        ("[[suppress]]\nrule = 'x'\nreason = 'y'\nuntil = 'soon'", ["suppress 1", "until", "'soon'"]),
        ("[[suppress]]\nrule = 'x'\nreason = 'y'\nuntil = 2027-01-01T00:00:00", ["until"]),
        ("[[suppress]]\nrule = 'x'\nreasn = 'y'", ["suppress 1", "reasn", "reason"]),
        ("not toml", ["TOML"]),
    ],
)
@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_mistake_names_the_file_the_key_and_what_is_wanted(tmp_path: Path, text: str, names: list[str], language: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(BadConfig) as caught:
        load(path)
    told = caught.value.told(speaker(language))
    assert all(name in told for name in [str(path), *names]), told


def test_other_bytes_and_a_huge_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "doctor.toml"
    for data in (b"\xff\xfe\x00", b"#" * 2_000_000):
        path.write_bytes(data)
        with pytest.raises(BadConfig):
            load(path)


def test_the_nearest_file_decides(tmp_path: Path) -> None:
    here, home = tmp_path / "here", tmp_path / "home"
    environ = {"XDG_CONFIG_HOME": str(home)}
    here.mkdir()
    users = written(home, "", "ascend-doctor/doctor.toml")
    assert find(None, environ, here, root=False) == users
    project = written(here, "[tool.doctor]\n", "pyproject.toml")
    assert find(None, environ, here, root=False) == project
    own = written(here, "")
    assert find(None, environ, here, root=False) == own


def test_root_does_not_follow_the_current_folder(tmp_path: Path) -> None:
    own = written(tmp_path, "")
    assert find(None, {"XDG_CONFIG_HOME": str(tmp_path / "none")}, tmp_path, root=True) != own
    assert ignored(tmp_path, root=True) == own
    assert ignored(tmp_path, root=False) is None
    assert find(str(own), {}, tmp_path, root=True) == own


def test_a_project_without_our_table_does_not_decide(tmp_path: Path) -> None:
    written(tmp_path, "[tool.other]\n", "pyproject.toml")
    assert find(None, {"XDG_CONFIG_HOME": str(tmp_path / "none")}, tmp_path, root=False) in (None, Path("/etc/ascend-doctor/doctor.toml"))


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadConfig):
        find(str(tmp_path / "gone.toml"), {}, tmp_path, root=False)
