"""Python functions fuzzed with Atheris, under the same observed libFuzzer as C targets.

``runner``, ``inside``, ``instrument``, ``failures`` and ``uncaught`` run in the interpreter of the
target, which may be another one than ours: they need the standard library and Atheris alone.
"""

SUFFIX = ".py"
"""How the names of harnesses end."""
