"""Stand-ins for machines with NPUs at work: a recorded host whose npu-smi shows processes, and a list of processes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from doctor.host import RUN_TIMEOUT, Output, Process, Unavailable
from doctor.host.recorded import open_host
from tests.tui.driving import HOSTS

PYTHON = "/opt/venv/bin/python3"

TABLE = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 301.2       63                0    / 0             |
| 0                         | 0000:C1:00.0  | 87          0    / 0          62914/ 65536         |
+===========================+===============+====================================================+
| 1     910B3               | OK            | 96.0        44                0    / 0             |
| 0                         | 0000:C2:00.0  | 0           0    / 0          41022/ 65536         |
+===========================+===============+====================================================+
| 2     910B3               | Warning       | 95.1        91                0    / 0             |
| 0                         | 0000:81:00.0  | 0           0    / 0          30111/ 65536         |
+===========================+===============+====================================================+
| 3     910B3               | OK            | 94.0        45                0    / 0             |
| 0                         | 0000:82:00.0  | 3           0    / 0          9000 / 65536         |
+===========================+===============+====================================================+
+---------------------------+---------------+----------------------------------------------------+
| NPU     Chip              | Process id    | Process name             | Process memory(MB)      |
+===========================+===============+====================================================+
| 0       0                 | 4711          | VLLM::Worker_TP          | 59500                   |
+===========================+===============+====================================================+
| 1       0                 | 5000          | VLLM::EngineCor          | 37600                   |
+===========================+===============+====================================================+
| 3       0                 | 99999         | python3                  | 5600                    |
+===========================+===============+====================================================+
"""

PROCESSES = (
    Process(1, 0, "systemd", ("/sbin/init",), state="S"),
    Process(4000, 1, "vllm", (PYTHON, "/opt/venv/bin/vllm", "serve", "/models/Qwen3-8B"), state="S"),
    Process(4100, 4000, "VLLM::EngineCor", ("VLLM::EngineCore_DP0",), state="S"),
    Process(4711, 4100, "VLLM::Worker_TP", ("VLLM::Worker_TP0",), state="R"),
    Process(5000, 1, "VLLM::EngineCor", ("VLLM::EngineCore_DP0",), state="S"),
)


class Working:
    """A recorded host that is live, with this table of npu-smi and these processes; everything else as recorded."""

    live = True

    def __init__(self, table: Callable[[], str] = lambda: TABLE, processes: Sequence[Process] = PROCESSES, name: str = "a2-old-driver") -> None:
        self._host: Any = open_host(HOSTS / name)
        self._table, self._processes = table, tuple(processes)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._host, name)

    def run(self, argv: Sequence[str], timeout: float = RUN_TIMEOUT, env: Mapping[str, str] | None = None) -> Output | Unavailable:
        if list(argv) == ["npu-smi", "info"]:
            return Output(tuple(argv), 0, self._table(), seconds=0.4)
        answer: Output | Unavailable = self._host.run(argv, timeout, env)
        return answer

    def processes(self) -> tuple[Process, ...]:
        return self._processes
