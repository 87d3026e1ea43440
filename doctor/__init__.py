"""ascend-doctor: finds out why LLM inference on an Ascend NPU server does not work, and what to do about it."""

__version__ = "0.1.0"
