"""The app on a terminal. Only the modules below this package import Textual, and only `doctor.tasks` opens it (docs/tui.md).

Contract: it judges nothing. It runs the same examinations as the other faces, listens to their verdicts, and shows their report.
"""
