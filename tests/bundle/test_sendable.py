"""The report of a smoke test names nobody: masked with the names of this machine, while what a diagnosis needs stays."""

from __future__ import annotations

from doctor.bundle.sendable import sendable
from tests.bundle.busy import BusyHost

PASSWD = "root:x:0:0:root:/root:/bin/bash\nwangxiaoming:x:1001:1001::/home/wangxiaoming:/bin/bash\n"
TEXT = """chip: 910B3 (a2), 8 card(s) of 65536 MB
driver: 25.5.0.1
VLLM_LOGGING_CONFIG_PATH: …/wangxiaoming
    | connect to 10.23.45.67:2222 of gpu-node-b17 failed, error code is 507011, EZ9999
    | using hf_abcdefghijklmnopqrstuvwxyz012345 and password=correct-horse-7
    | vllm serve /data/team7/SecretModel-72B then /models/Qwen2.5-7B-Instruct
"""


def test_names_secrets_and_own_models_go_and_the_rest_stays() -> None:
    masked = sendable(TEXT, BusyHost(files={"/etc/passwd": PASSWD}, name="gpu-node-b17"))
    for gone in ("wangxiaoming", "10.23.45.67", "gpu-node-b17", "hf_abc", "correct-horse", "SecretModel", "team7"):
        assert gone not in masked, masked
    for kept in ("910B3 (a2), 8 card(s) of 65536 MB", "driver: 25.5.0.1", "507011", "EZ9999", "Qwen2.5-7B-Instruct", "-72B"):
        assert kept in masked, masked
