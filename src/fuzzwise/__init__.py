"""fuzzwise: where to fuzz next, and when to stop."""

__version__ = "0.1.0"
