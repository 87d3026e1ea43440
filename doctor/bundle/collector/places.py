"""What the variables of `reading` stand for on this host: homes, interpreters, CANN's folders, models.

Contract: standard library only, in the grammar of Python 3.6 (see `reading`).
"""

# ruff: noqa: UP031

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Mapping
from typing import Any

from doctor.bundle.collector import reading
from doctor.bundle.collector.machine import FOLDERS, is_vllm, unique
from doctor.bundle.collector.tree import Tree


class Places:
    """The values of each variable, from environments, processes and what lies where."""

    def __init__(self, tree: Tree, environments: Mapping[int, Mapping[str, str]]) -> None:
        self.tree = tree
        self.machine = tree.machine
        self._environments = list(environments.values())
        self.variables: dict[str, list[str]] = {}

    def _values(self, name: str) -> list[str]:
        return [each[name] for each in self._environments if each.get(name, "").startswith("/")]

    def _parts(self, name: str) -> list[str]:
        return [part for each in self._environments for part in each.get(name, "").split(":") if part.startswith("/")]

    def find(self, processes: list[dict[str, Any]]) -> None:
        servers = [each for each in processes if is_vllm(each)]
        found = self.variables
        homes = ["/root"] + list(self.tree.matches("/home/*")) + self._values("HOME") + self._values("PWD") + self._values("CODE_HOME")
        found["home"] = homes
        found["logs"] = unique(self._values("ASCEND_PROCESS_LOG_PATH") + [path.rstrip("/") + "/log" for path in self._values("ASCEND_WORK_PATH")] + [home.rstrip("/") + "/ascend/log" for home in homes])
        found["vllm"] = [str(each["pid"]) for each in servers][:64]
        found["server"] = found["vllm"][:8]
        found["path"] = self._parts("PATH")[:64]
        found["bin"] = list(FOLDERS) + found["path"]
        found["ld"] = self._parts("LD_LIBRARY_PATH")[:64]
        found["pythonpath"] = self._parts("PYTHONPATH")[:64]
        found["ascend"] = ["/usr/local/Ascend"] + [home + "/Ascend" for home in homes] + self._installed()
        self._python(servers, found)
        homes_of_cann = self._values("ASCEND_HOME_PATH") + self._values("ASCEND_TOOLKIT_HOME") + [os.path.dirname(opp.rstrip("/")) for opp in self._values("ASCEND_OPP_PATH")]
        for base in found["ascend"]:
            for pattern in ("cann", "cann-*", "ascend-toolkit/*", "nnae/*", "latest"):
                homes_of_cann += self.tree.matches(base + "/" + pattern)
        cann = unique(homes_of_cann + [self.tree.walk(path) for path in homes_of_cann])
        cann += [os.path.dirname(path) for path in cann if path.endswith("-linux")]
        for path in list(cann):  # before 8.5, `latest` is a folder of links into the version's folder
            for inside in ("compiler", "runtime", "opp", "toolkit"):
                behind = self.tree.walk(path + "/" + inside)
                cann += [os.path.dirname(behind)] if behind else []
        found["cann"] = [path for path in unique(cann) if path.startswith("/")][:64]
        found["opp"] = unique([path + "/opp" for path in found["cann"]] + self._values("ASCEND_OPP_PATH"))
        found["atb"] = unique(self._values("ATB_HOME_PATH") + [path for base in found["ascend"] for name in ("latest", "*") for path in self.tree.matches(base + "/nnal/atb/" + name)])
        found["cgroup"] = self._cgroups()
        found["model"] = unique(self._models(servers))
        found["unit"], found["script"] = self._units()
        found["starts"] = unique([home.rstrip("/") for home in homes]) + list(reading.START_FOLDERS)
        found["start"] = self._starts(found["starts"])
        found["unlink"] = []

    def _starts(self, folders: list[str]) -> list[str]:
        """Files in which a start of vLLM may be written."""
        found: list[str] = []
        for folder in folders:
            for name in ("*.y*ml", "*.sh", "*.py"):
                found += [path for path in self.tree.matches(folder + "/" + name)[: reading.MOST_STARTS] if re.search(reading.START_NAMES, path)]
        return unique(found)

    def _installed(self) -> list[str]:
        try:
            text = self.machine.read("/etc/ascend_install.info", 65536, False).decode("utf-8", "replace")
        except (OSError, ValueError):
            return []
        return re.findall(r"(?m)^\w*Install_Path_Param=(/\S+)", text)

    def _python(self, servers: list[dict[str, Any]], found: dict[str, list[str]]) -> None:
        programs = [each["exe"] for each in servers] + [each["argv"][0] for each in servers if each["argv"] and each["argv"][0].startswith("/")]
        programs += [folder.rstrip("/") + "/" + name for folder in found["path"] for name in ("python3", "python")] + ["/usr/bin/python3"]
        prefixes = self._values("VIRTUAL_ENV") + self._values("CONDA_PREFIX")
        for program in programs:
            for path in (program, self.tree.walk(program)):
                if re.match(r"/.*/(?:python|pypy)[\d.]*$", path) and self.tree.walk(path):
                    prefixes.append(os.path.dirname(os.path.dirname(path)))
        for prefix in list(prefixes):
            try:
                settings = self.machine.read(self.tree.walk(prefix + "/pyvenv.cfg") or prefix + "/pyvenv.cfg", 16384, False).decode("utf-8", "replace")
            except (OSError, ValueError):
                continue
            for home in re.findall(r"(?m)^\s*home\s*=\s*(/\S+)", settings):
                prefixes += [os.path.dirname(home.rstrip("/")), os.path.dirname(os.path.dirname(self.tree.walk(home + "/python3")))]
        found["prefix"] = [path.rstrip("/") or "/" for path in unique(prefixes + ["/usr", "/usr/local"]) if path.startswith("/")][:64]
        sites = [path for prefix in found["prefix"] for pattern in ("lib*/python3*/site-packages", "lib*/python3*/dist-packages", "lib/python3/dist-packages") for path in self.tree.matches(prefix + "/" + pattern)]
        sites += [path for home in found["home"] for path in self.tree.matches(home + "/.local/lib/python3*/site-packages")] + found["pythonpath"]
        found["site"] = [site for site in unique(sites) if self.tree.walk(site)][:64]
        found["source"] = unique(self._sources(found["site"]))

    def _sources(self, sites: list[str]) -> list[str]:
        """Folders of editable installs."""
        found: list[str] = []
        for site in sites:
            for pattern, form in (("*.dist-info/direct_url.json", r'"url"\s*:\s*"file://(/[^"]*)"'), ("*.egg-link", r"^(/\S+)")):
                for path in self.tree.matches(site + "/" + pattern):
                    try:
                        found += re.findall(form, self.machine.read(self.tree.walk(path), 65536, False).decode("utf-8", "replace"))
                    except (OSError, ValueError):
                        continue
        return found[:64]

    def _cgroups(self) -> list[str]:
        found: list[str] = []
        try:
            for line in self.machine.read("/proc/self/cgroup", 65536, False).decode("utf-8", "replace").splitlines():
                path = line.split(":", 2)[-1]
                while path.startswith("/") and len(path) > 1:
                    found.append(path)
                    path = os.path.dirname(path)
        except (OSError, ValueError):
            return []
        return unique(found)

    def _models(self, servers: list[dict[str, Any]]) -> list[str]:
        """Folders that a server's arguments name, in the root that it sees."""
        found: list[str] = []
        for each in servers:
            words = [word.partition("=")[2] if word.startswith("--") and "=" in word else word for word in each["argv"]]
            for word in words:
                for path in (word, "/proc/%d/root%s" % (each["pid"], word)):
                    if word.startswith("/") and len(found) < 16 and self.tree.node(self.tree.walk(path) or "/nowhere")["k"] == "folder":
                        found.append(path)
        return found

    def _units(self) -> tuple[list[str], list[str]]:
        """Files that systemd's units name, and scripts that they start."""
        environment: list[str] = []
        scripts: list[str] = []
        for path in self.tree.matches("/etc/systemd/system/*.service"):
            try:
                text = self.machine.read(self.tree.walk(path), 65536, False).decode("utf-8", "replace")
            except (OSError, ValueError):
                continue
            environment += re.findall(r"(?m)^\s*EnvironmentFile\s*=\s*-?[\"']?(/[^\s\"']+)", text)
            scripts += [word for line in re.findall(r"(?m)^\s*Exec\w+\s*=\s*(.*)", text) for word in re.findall(r"/[^\s\"';]+\.(?:sh|py)\b", line)]
        return unique(environment)[:64], unique(scripts)[:64]

    def expanded(self, pattern: str) -> list[str]:
        """The pattern with every `{a,b}` and `{variable}` as what it stands for."""
        parts = re.split(r"(\{[^{}]*\})", pattern)
        choices = []
        for part in parts:
            inside = part[1:-1]
            if not part.startswith("{"):
                choices.append([part])
            elif "," in inside or inside not in self.variables:
                choices.append(inside.split(","))
            else:
                choices.append(self.variables[inside])
        return unique(["".join(each) for each in itertools.islice(itertools.product(*choices), 4000)])
