"""Judges commands that start vLLM before anybody runs them: flags, values, variables, in every kind of file that holds such a command.

`source` reads the flags of an installed vLLM by its syntax tree, `shipped` those of the released versions; `inputs` finds the commands;
`parse` applies the rules of vLLM's parser; `judge` puts what is wrong into the words of the rules, and `examine` makes one examination.
"""
