"""MOONCAKE_CONFIG_PATH of a server whose KV pool is Mooncake's: set, there, and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.pools import MooncakeConfig
from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Evidence, Hit, Skip
from doctor.logscan.signature import Matches
from doctor.regex import regex

_POOL = regex(r"(?:AscendStore|MooncakeStore|MooncakeConnectorStore)\w{0,20}Connector|MooncakeConnectorStoreV1|AscendStoreConnector")
_OTHER = regex(r"[\"']backend[\"']\s{0,4}:\s{0,4}[\"'](?!mooncake)", re.IGNORECASE)
_SAID = {"unset": "MOONCAKE_CONFIG_PATH is not set", "missing": "MOONCAKE_CONFIG_PATH={}, which is not there", "invalid": "MOONCAKE_CONFIG_PATH={}, which is no JSON"}


def judge(config: MooncakeConfig | None, commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    if config is None or commands is None:
        if not matches.looked:
            raise Skip("the environment, or the commands, are not known")
        return
    for command in commands.commands:
        told = command.flags.get("kv-transfer-config") or command.keywords.get("kv_transfer_config") or ""
        if config.problem and _POOL.search(told) and not _OTHER.search(told):
            found = _SAID[config.problem].format(config.path)
            yield Hit(found=found, wanted="a JSON file", evidence=(Evidence(command.source, found, command.line),), confidence=Confidence.LIKELY)
            return
