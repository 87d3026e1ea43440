"""Programs that run in the target's interpreter, never in doctor's: nothing here is imported by doctor, and nothing of doctor by them.

Contract: `start.py JOB` loads one of the others by its file and calls its `run(say, job)`. They need the standard library of Python 3.9
and whatever the step is about, which they import themselves, stage by stage, so that the last stage told names what hung or crashed.
"""
