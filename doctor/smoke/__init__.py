"""The live smoke test: whether this machine can infer, step by step, and where it cannot, which layer fails and why.

Contract: every step runs in a child process of the target's interpreter (`children/`), within a deadline, and is ended with everything that it
started. Nothing here imports what belongs to the target, and nothing here changes the host. `plan.py` says what would be done and what it
occupies, `run.py` does it and tells a listener, `stop` ends it at once; no face is known here.
"""
