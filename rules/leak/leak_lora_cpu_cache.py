"""Host memory that grows while LoRA adapters are loaded and unloaded at run time."""

from __future__ import annotations

from collections.abc import Iterator

from doctor.facts.vllm import ServeCommands
from doctor.finding import Confidence, Hit
from doctor.logscan.signature import Matches

from . import growth


def judge(commands: ServeCommands | None, matches: Matches) -> Iterator[Hit]:
    seen = growth.lines(growth.of_host(growth.told(matches)))
    about = [match for match in matches["lora"] if "max" not in match.text or "lora_adapter" in match.text]
    named = any("lora" in match.text.lower() or "adapter" in match.text.lower() for match in seen)
    switching = any("lora_adapter" in match.text or "RUNTIME_LORA" in match.text for match in about)
    if seen and (switching or named) and about:
        bound = growth.option(commands, "max-cpu-loras")
        said = f"host memory grows while adapters come and go, --max-cpu-loras {bound or 'not given'}"
        yield growth.hit(seen, said, Confidence.LIKELY, None, "--max-cpu-loras of the adapters in use")
