"""`environment` and `systemd`: what the server lacks, in every form in which servers are started."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from doctor.apply.engine import apply_plan, make_plan, undo
from doctor.apply.kind import Choices, Context
from doctor.apply.plan import Effect, StepPlan
from doctor.apply.steps import environment, systemd
from doctor.facts import FixedFacts
from doctor.facts.cann import Cann, CannInstall
from doctor.facts.machine import Machine
from doctor.facts.target import Environment, Target
from doctor.facts.vllm import ServeCommand, ServeCommands
from doctor.fix import SetEnvironment, SystemdDropIn
from doctor.host.live import LiveHost
from tests.apply.trees import make_root, picture, site_of

TOOLKIT = "/usr/local/Ascend/ascend-toolkit/8.3.RC1"
CANN_SH = "/usr/local/Ascend/ascend-toolkit/set_env.sh"
ATB_SH = "/usr/local/Ascend/nnal/atb/set_env.sh"
FILES = {
    CANN_SH: "export ASCEND_HOME_PATH=/usr/local/Ascend/ascend-toolkit/latest\n",
    f"{TOOLKIT}/version.info": "x",
    ATB_SH: "export ATB_HOME_PATH=/usr/local/Ascend/nnal/atb\n",
    "/usr/lib64/libjemalloc.so.2": "",
    "/usr/lib64/libtcmalloc.so.4": "",
}
UNIT = "[Unit]\nDescription=vLLM\n[Service]\nExecStart=/opt/venv/bin/vllm serve /models/m \\\n  --port 8000\nLimitNOFILE=1024\n[Install]\n"
SHELL, UNSAID = Choices(form="shell"), Choices()
FACTS = (
    Cann((CannInstall(TOOLKIT, "8.3.RC1"),), None),
    Target("/opt/venv/bin/python", "process 4711", {}, 4711),
    ServeCommands((ServeCommand(("vllm", "serve", "/models/m", "--port", "8000"), "/models/m"),)),
)


def facts(page_size: int = 4096, **values: str) -> FixedFacts:
    return FixedFacts(*FACTS, Machine(arch="aarch64", page_size=page_size), Environment(values, source="process 4711"))


def step(root: Path, action: SetEnvironment, choices: Choices = SHELL, given: FixedFacts | None = None) -> StepPlan:
    context = Context(LiveHost(str(root)), given or facts(), "cann-env-not-sourced", "source", str(root), 0, choices)
    return environment.KIND.plan("environment", action, context)


def contents(found: StepPlan) -> dict[str, str]:
    return {change.path: change.after for change in found.changes}  # type: ignore[attr-defined]


def test_the_shells_form_can_be_run(tmp_path: Path) -> None:
    root = make_root(tmp_path, FILES)
    action = SetEnvironment(source=("cann", "atb"), set={"A": "it's $5"}, prepend={"LD_PRELOAD": "allocator"}, unset=("OLD",))
    found = step(root, action)
    assert found.effect is Effect.NEXT_START
    made = contents(found)
    text, wrapper = made["/etc/ascend-doctor/environment.sh"], made["/etc/ascend-doctor/with-ascend"]
    assert "# >>> ascend-doctor: cann-env-not-sourced >>>" in text and f". {CANN_SH}\n. {ATB_SH}\n" in text
    local = text.replace("/usr/local", f"{root}/usr/local").replace("/usr/lib64/libjemalloc.so.2", "/nowhere/libjemalloc.so.2")
    (tmp_path / "environment.sh").write_text(local)
    (tmp_path / "with").write_text(wrapper.replace("/etc/ascend-doctor/", f"{tmp_path}/"))
    shown = 'echo "$A|${OLD-gone}|$ASCEND_HOME_PATH|$ATB_HOME_PATH|$LD_PRELOAD|$1"'
    ran = subprocess.run(["bash", str(tmp_path / "with"), "sh", "-c", shown, "sh", "a b"], env={"OLD": "1", "PATH": "/usr/bin:/bin"}, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "it's $5|gone|/usr/local/Ascend/ascend-toolkit/latest|/usr/local/Ascend/nnal/atb|/nowhere/libjemalloc.so.2|a b"
    assert "with-ascend vllm serve /models/m --port 8000" in found.notes[0].text.en


@pytest.mark.parametrize(("page", "library"), [(4096, "libjemalloc.so.2"), (65536, "libtcmalloc.so.4")])
def test_the_allocator_fits_the_page_size(tmp_path: Path, page: int, library: str) -> None:
    found = step(make_root(tmp_path, FILES), SetEnvironment(prepend={"LD_PRELOAD": "allocator"}), given=facts(page))
    assert f"/usr/lib64/{library}" in contents(found)["/etc/ascend-doctor/environment.sh"]


def test_without_a_fitting_allocator_it_says_so(tmp_path: Path) -> None:
    files = {path: text for path, text in FILES.items() if "tcmalloc" not in path}
    found = step(make_root(tmp_path, files), SetEnvironment(prepend={"LD_PRELOAD": "allocator"}), given=facts(65536))
    assert found.blocked is not None and "tcmalloc" in found.blocked.en


def test_a_preload_that_does_not_fit_is_taken_away_before_anything_starts(tmp_path: Path) -> None:
    root = make_root(tmp_path, {**FILES, "/etc/systemd/system/vllm.service": UNIT})
    action = SetEnvironment(unset=("LD_PRELOAD",), prepend={"LD_PRELOAD": "allocator"})
    made = contents(step(root, action, Choices(), facts(65536, LD_PRELOAD="/usr/lib64/libjemalloc.so.2")))
    unit = made["/etc/systemd/system/vllm.service.d/90-ascend-doctor-cann-env-not-sourced.conf"]
    assert unit.index("UnsetEnvironment=LD_PRELOAD\n") < unit.index("ExecStart=/etc/ascend-doctor/with-ascend")
    assert "unset LD_PRELOAD\nexport LD_PRELOAD=/usr/lib64/libtcmalloc.so.4" in made["/etc/ascend-doctor/environment.sh"]


def test_only_the_missing_entries_of_a_list_are_added(tmp_path: Path) -> None:
    found = step(make_root(tmp_path, FILES), SetEnvironment(prepend={"LD_LIBRARY_PATH": "/a:/b:/c"}), given=facts(LD_LIBRARY_PATH="/x:/b"))
    assert 'export LD_LIBRARY_PATH=/a:/c"${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"' in contents(found)["/etc/ascend-doctor/environment.sh"]


def test_a_misspelt_variable_keeps_its_value(tmp_path: Path) -> None:
    found = step(make_root(tmp_path, FILES), SetEnvironment(rename={"HCCL_BUFF_SIZE": "HCCL_BUFFSIZE"}), given=facts(HCCL_BUFF_SIZE="1024"))
    text = contents(found)["/etc/ascend-doctor/environment.sh"]
    assert "unset HCCL_BUFF_SIZE\nexport HCCL_BUFFSIZE=1024\n" in text


@pytest.mark.parametrize("name", ["A;rm -rf /", "A B", "", "A=B", "1A"])
def test_a_name_that_is_no_variable_is_refused(tmp_path: Path, name: str) -> None:
    assert step(make_root(tmp_path, FILES), SetEnvironment(set={name: "x"})).blocked is not None


def test_hostile_values_stay_values(tmp_path: Path) -> None:
    root = make_root(tmp_path, FILES)
    value = "$(touch /tmp/no) `id` \"'\\ %h"
    action = SetEnvironment(set={"A": value})
    text = contents(step(root, action))["/etc/ascend-doctor/environment.sh"]
    ran = subprocess.run(["sh", "-c", f'{text}\nprintf %s "$A"'], capture_output=True, text=True, check=True)
    assert ran.stdout == value
    compose = contents(step(root, action, Choices(form="compose", to="/srv/x.yaml", unit="vllm")))["/srv/x.yaml"]
    assert yaml.safe_load(compose)["services"]["vllm"]["environment"]["A"].replace("$$", "$") == value
    patch = contents(step(root, action, Choices(form="kubernetes", to="/srv/x.yaml", unit="vllm")))["/srv/x.yaml"]
    assert yaml.safe_load(patch)["spec"]["template"]["spec"]["containers"][0]["env"] == [{"name": "A", "value": value}]


def test_containers_read_the_scripts_in_their_entry_point(tmp_path: Path) -> None:
    root, action = make_root(tmp_path, FILES), SetEnvironment(source=("cann", "atb"))
    docker = contents(step(root, action, Choices(form="dockerfile", to="/srv/Dockerfile.env")))["/srv/Dockerfile.env"]
    entry = json.loads(docker.partition("ENTRYPOINT ")[2])
    assert entry[:2] == ["/bin/bash", "-c"] and f". {CANN_SH}" in entry[2] and entry[2].endswith('exec "$@"')
    patch = contents(step(root, action, Choices(form="kubernetes", to="/srv/p.yaml", unit="server")))["/srv/p.yaml"]
    (container,) = yaml.safe_load(patch)["spec"]["template"]["spec"]["containers"]
    assert container["name"] == "server" and container["command"] == entry and container["args"] == ["vllm", "serve", "/models/m", "--port", "8000"]
    compose = contents(step(root, action, Choices(form="compose", to="/srv/c.yaml", unit="vllm")))["/srv/c.yaml"]
    assert yaml.safe_load(compose)["services"]["vllm"]["entrypoint"][2].endswith('exec "$$@"')


def test_where_to_write_has_to_be_said(tmp_path: Path) -> None:
    for choices in (Choices(form="compose"), Choices(form="kubernetes", to="/srv/x"), Choices(form="dockerfile")):
        found = step(make_root(tmp_path / choices.form, FILES), SetEnvironment(set={"A": "1"}), choices)
        assert found.blocked is not None and "--" in found.blocked.en and found.host_commands == ("export A=1",)


def test_a_unit_starts_through_the_wrapper(tmp_path: Path) -> None:
    root = make_root(tmp_path, {**FILES, "/etc/systemd/system/vllm.service": UNIT})
    made = contents(step(root, SetEnvironment(source=("cann",)), Choices()))
    assert made["/etc/systemd/system/vllm.service.d/90-ascend-doctor-cann-env-not-sourced.conf"].endswith(
        "[Service]\nExecStart=\nExecStart=/etc/ascend-doctor/with-ascend /opt/venv/bin/vllm serve /models/m --port 8000\n"
    )
    plain = contents(step(root, SetEnvironment(set={"A": '50% "x"'}, unset=("B",)), Choices()))
    assert plain["/etc/systemd/system/vllm.service.d/90-ascend-doctor-cann-env-not-sourced.conf"].endswith(
        '[Service]\nUnsetEnvironment=B\nEnvironment="A=50%% \\"x\\""\n'
    )


def drop_in(root: Path, choices: Choices = UNSAID, **service: str) -> StepPlan:
    context = Context(LiveHost(str(root)), facts(), "host-ulimits-low", "raise", str(root), 0, choices)
    return systemd.KIND.plan("systemd", SystemdDropIn(service), context)


def test_a_drop_in_and_who_overrides_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Context, "live", property(lambda self: True))
    files = {
        "/etc/systemd/system/vllm.service": UNIT,
        "/etc/systemd/system/vllm.service.d/override.conf": "[Service]\nLimitNOFILE=2048\n",
        "/etc/systemd/system/vllm.service.d/10-a.conf": "[Service]\nLimitNOFILE=512\n",
        "/proc/4711/cgroup": "0::/system.slice/vllm.service\n",
    }
    found = drop_in(make_root(tmp_path, files), LimitNOFILE="65536")
    (change,) = found.changes
    assert change.subject == "/etc/systemd/system/vllm.service.d/90-ascend-doctor-host-ulimits-low.conf"
    assert change.commands() == (("systemctl", "daemon-reload"),) and found.needs.restart == ("vllm.service",)
    told = {note.text.en: note.conflict for note in found.notes}
    assert any(conflict and "override.conf: LimitNOFILE=2048 is read later" in text for text, conflict in told.items())
    assert any(not conflict and "10-a.conf: LimitNOFILE=512 is overridden" in text for text, conflict in told.items())


def test_a_unit_that_is_right_needs_nothing(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/systemd/system/vllm.service": UNIT.replace("1024", "65536")})
    assert drop_in(root, LimitNOFILE="65536").already


def test_without_a_unit_it_asks_for_one(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/systemd/system/llm.service": UNIT.replace("vllm serve", "start.sh")})
    assert drop_in(root, LimitNOFILE="65536").blocked is not None
    assert drop_in(root, Choices(unit="llm"), LimitNOFILE="65536").changes
    assert drop_in(root, Choices(unit="../../x"), LimitNOFILE="65536").blocked is not None


RULE = """
id: cann-env-not-sourced
severity: fail
title: {en: Not sourced., zh: 未加载。}
why: {en: A test., zh: 测试。}
decide:
- when: {os.id: openeuler}
fixes:
- id: source
  title: {en: Source it, zh: 加载}
  safety: ask
  steps: [source set_env.sh]
  do:
  - environment: {set: {HCCL_BUFFSIZE: '1024'}}
"""


def test_applied_to_a_tree_and_undone(tmp_path: Path) -> None:
    root = make_root(tmp_path, {"/etc/os-release": "ID=openeuler\n", "/etc/systemd/system/vllm.service": UNIT})
    site, before = site_of(root, RULE), picture(root)
    name = ("cann-env-not-sourced",)
    (done,) = apply_plan(site, name, make_plan(site.look(), name).hash)
    assert done.outcome.value == "pending" and done.effect is Effect.NEXT_START
    assert make_plan(site.look(), name).fixes[0].already
    undo(site)
    assert picture(root) == before
