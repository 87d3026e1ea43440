"""Work behind a screen, in a daemon thread: a program that hangs keeps neither the screen nor the end of the app waiting."""

from __future__ import annotations

import contextlib
import contextvars
import threading
from collections.abc import Callable

from textual.message import Message
from textual.message_pump import MessagePump

from doctor.tui.watch import Stopped


def behind(pump: MessagePump, work: Callable[[], Message], name: str) -> None:
    """Runs `work` and posts the message that it gives; nothing where it was stopped, or where the app has ended meanwhile."""

    def run() -> None:
        with contextlib.suppress(Stopped):
            message = work()
            with contextlib.suppress(RuntimeError):
                pump.post_message(message)

    context = contextvars.copy_context()  # a message finds its app through it
    threading.Thread(target=context.run, args=(run,), name=name, daemon=True).start()


__all__ = ["behind"]
