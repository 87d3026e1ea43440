"""The only room that changes a host: plans, a journal on disk, apply, verify, undo.

Contract: nothing outside this package writes to a host. Everything that is changed is one of a closed set of changes with a known before and
after, written to the journal and synced before it is made.
"""
