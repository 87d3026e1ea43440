"""Runs a program on a terminal of its own and passes its output on at so many bytes a second: `python slowline.py RATE program …`."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import sys
import termios
import threading
import tty

PIECE = 64
"""Bytes passed on at once."""


def main(rate: float, argv: list[str]) -> int:
    size = fcntl.ioctl(0, termios.TIOCGWINSZ, bytes(8))
    before = termios.tcgetattr(0)
    pid, master = pty.fork()
    if not pid:
        os.execvp(argv[0], argv)
    fcntl.ioctl(master, termios.TIOCSWINSZ, size)
    tty.setraw(0)
    pause = threading.Event()
    try:
        while True:
            ready, _, _ = select.select([0, master], [], [])
            if 0 in ready:
                os.write(master, os.read(0, 1024))
            if master in ready:
                try:
                    data = os.read(master, PIECE)
                except OSError:
                    break
                if not data:
                    break
                os.write(1, data)
                pause.wait(len(data) / rate)
    finally:
        termios.tcsetattr(0, termios.TCSADRAIN, before)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


if __name__ == "__main__":
    sys.exit(main(float(sys.argv[1]), sys.argv[2:]))
