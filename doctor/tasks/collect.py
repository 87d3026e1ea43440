"""`doctor collect`: the one-file recorder, to be carried to a host on which nothing can be installed."""

from __future__ import annotations

from doctor.tasks import Answer, Options
from doctor.tasks.common import output
from doctor.tasks.newfile import write_new


def run(options: Options, file: str | None) -> Answer:
    """Writes the script, or gives it as the answer."""
    from doctor.bundle.collector.generate import script

    text = script()
    if file is None:
        return output(options, text)
    write_new(file, text, 0o700)
    return output(options, f"{file}: python3 {file} --help") if options.as_json else Answer("")
