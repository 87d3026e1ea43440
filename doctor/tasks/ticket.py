"""`doctor ticket`: the text of an issue."""

from __future__ import annotations

from collections.abc import Sequence

from doctor.bundle.words import WORDS
from doctor.locale import room_speaker
from doctor.tasks import Answer, Options, Refused
from doctor.tasks.common import enveloped, open_logs, rulebook
from doctor.tasks.newfile import write_new
from doctor.tasks.recorded import host_and_logs


def run(
    options: Options, form: str, redaction: str, file: str | None, recorded: str | None, root: str | None, python: str | None, logs: Sequence[str]
) -> Answer:
    """Looks at the host and tells what an issue needs."""
    from doctor.bundle.redact import Redactor
    from doctor.bundle.ticket import as_html, as_markdown, ticket
    from doctor.logscan.sources import all_chunks

    say = room_speaker(WORDS, options.language)
    host, sources = host_and_logs(options, recorded, root)
    chunks = list(all_chunks([*sources, *open_logs(logs)], [], lambda _: None))
    try:
        sections = ticket(host, rulebook(), chunks, Redactor(redaction), options.language, say, python)
    except Exception as problem:  # noqa: BLE001  whatever it is, nothing unmasked may go out
        raise Refused(say("not_masked", what=type(problem).__name__)) from None
    text = as_html(sections, options.language, say) if form == "html" else as_markdown(sections, say)
    if file is not None:
        write_new(file, text)
    if options.as_json:
        return enveloped(options, ticket={"format": form, "text": text})
    return Answer("" if file is not None else text)
