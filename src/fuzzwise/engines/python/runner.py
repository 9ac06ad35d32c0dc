"""Runs a Python harness: PYTHON runner.py HARNESS FILE… on files, with options it fuzzes.

Started by its path, so that an interpreter without fuzzwise can run it.
"""

import sys


def main() -> None:
    """Find the other modules of this package, and leave no trace of where they were found."""
    here = sys.path[0]
    sys.path[0] = __file__.rsplit("/", 4)[0]
    from fuzzwise.engines.python.inside import run

    sys.path[0] = here
    run(sys.argv[1:])


if __name__ == "__main__":
    main()
