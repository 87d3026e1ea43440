"""Many machines: recorded through Ansible, judged here, and compared with each other.

Contract: the nodes are only read. What runs there is the one file of `doctor collect`, in a folder of its own that goes afterwards; a node
that could not be reached, recorded or read is a result like any other.
"""
