"""Fast scanning of logs and pasted texts for many patterns at once.

Contract: every pattern is searched in each line after its prefix was taken off. A pattern's literals are looked for first, in
whole chunks; only lines that hold one are tried with the regular expression, so that a healthy log costs no more than reading it.
"""
