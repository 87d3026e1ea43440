"""A file that is there whole or not at all: written beside its place, under a name of its own, and renamed over what was there.

Contract: whoever reads the path sees the old file or the new one, never half of one; where the writing fails, the old one stays and nothing is left.
It follows no link at the path (the link itself is replaced) and syncs nothing: what has to outlive a power loss is `doctor.apply`'s.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: str, mode: int) -> Iterator[BinaryIO]:
    """The new file, open for writing; it takes its place when the block ends well. Raises OSError where that cannot be done."""
    handle, beside = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".doctor-")
    try:
        with open(handle, "wb") as file:
            yield file
        os.chmod(beside, mode)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


__all__ = ["whole_file"]
