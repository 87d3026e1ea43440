"""Watching a running server: samples, trends, stalls and pressure. Nothing here changes the host; what it writes is its own sample file.

`judge` is pure; `sampler` looks through the Host; `samplefile` keeps; `watcher` puts them together for every face.
"""
