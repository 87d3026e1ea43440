"""The C++ ABI of the ATB that was sourced against that of torch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from doctor.facts.cann import CannLibraryPath
from doctor.facts.target import TorchBuild
from doctor.finding import Evidence, Hit, Skip


def judge(path: CannLibraryPath, torch: TorchBuild) -> Iterator[Hit]:
    chosen = re.search(r"/cxx_abi_([01])/?$", path.atb_home or "")
    if chosen is None or torch.cxx11_abi is None:
        raise Skip("ATB_HOME_PATH and the C++ ABI of torch are not both known")
    wanted = "1" if torch.cxx11_abi else "0"
    if chosen[1] != wanted:
        yield Hit(
            found=f"ATB of cxx_abi_{chosen[1]} with a torch {torch.version} of ABI {wanted}",
            wanted=f"ATB_HOME_PATH ends in cxx_abi_{wanted}",
            evidence=(Evidence(path.source, f"ATB_HOME_PATH={path.atb_home}"), Evidence(torch.source, f"torch {torch.version}, C++11 ABI: {torch.cxx11_abi}")),
            values={"abi": wanted},
        )
