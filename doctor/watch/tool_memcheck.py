"""valgrind memcheck's output, text or XML, summed up by the first library outside the allocator. No entity is ever expanded."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator

from doctor.facts.memcheck import SIGNS, Memcheck, MemcheckReader
from doctor.watch.toolsummary import Place, ToolSummary, UnreadableError, largest, library_of

_ALLOCATOR = re.compile(r"^(?:malloc|calloc|realloc|memalign|posix_memalign|aligned_alloc|operator new.{0,40}|_Znwm|_Znam|PyMem_\w{1,30}|PyObject_Malloc)$")
MOST = 100_000
"""Errors read of one XML file."""


def is_text(head: str) -> bool:
    return any(sign in head for sign in SIGNS)


def from_text(text: str) -> ToolSummary:
    reader = MemcheckReader()
    for number, line in enumerate(text.split("\n"), 1):
        reader.feed("memcheck", number, line)
    found = next((fact for fact in reader.facts() if isinstance(fact, Memcheck)), None)
    lost = found.lost if found is not None else ()
    places = (Place(each.bytes, each.blocks, each.where, library_of(_place(each.frames[0])) if each.frames else "unknown") for each in lost)
    ended = "LEAK SUMMARY" in text or "All heap blocks were freed" in text
    return ToolSummary("memcheck", sum(each.bytes for each in lost), largest(places), complete=ended)


def _place(frame: str) -> str:
    return frame.rpartition(" (")[2].rstrip(")")


def from_xml(data: bytes) -> ToolSummary:
    """Raises UnreadableError for XML with a document type (which could define entities), and for what is none."""
    if re.search(rb"<!(?:DOCTYPE|ENTITY)", data, re.IGNORECASE):
        raise UnreadableError("it defines a document type, which memcheck never does")
    sums: dict[str, Place] = {}
    complete = False
    try:
        for count, element in enumerate(_elements(data)):
            if element.tag == "state":
                complete = complete or (element.text or "").strip() == "FINISHED"
            elif count < MOST and (place := _record(element)) is not None:
                known = sums.get(place.where)
                sums[place.where] = place if known is None else Place(known.size + place.size, (known.blocks or 0) + (place.blocks or 0), place.where, place.library)
            if element.tag == "error":
                element.clear()
    except ElementTree.ParseError as problem:
        if not sums:
            raise UnreadableError(f"not XML: {problem}") from None
    return ToolSummary("memcheck", sum(place.size for place in sums.values()), largest(sums.values()), complete=complete)


def _elements(data: bytes) -> Iterator[ElementTree.Element]:
    for _, element in ElementTree.iterparse(io.BytesIO(data), events=("end",)):
        if element.tag in ("error", "state"):
            yield element


def _record(error: ElementTree.Element) -> Place | None:
    if error.findtext("kind") != "Leak_DefinitelyLost":
        return None
    size, blocks = (_number(error.findtext(f"xwhat/{name}")) for name in ("leakedbytes", "leakedblocks"))
    frames = [frame for frame in error.findall("stack/frame") if not _inside(frame)][:3]
    told = [f"{frame.findtext('fn') or '???'} ({frame.findtext('file') or frame.findtext('obj') or '?'})" for frame in frames]
    library = library_of(frames[0].findtext("obj") or frames[0].findtext("file") or "") if frames else "unknown"
    return Place(size, blocks, " < ".join(part[:160] for part in told) or "a stack that is not in the file", library)


def _inside(frame: ElementTree.Element) -> bool:
    return bool(_ALLOCATOR.match(frame.findtext("fn") or "")) or "vgpreload" in (frame.findtext("obj") or "")


def _number(text: str | None) -> int:
    return int(text) if text is not None and text.isdecimal() and len(text) < 19 else 0


__all__ = ["from_text", "from_xml", "is_text"]
