"""``python -m fuzzwise``."""

import sys

from fuzzwise.cli import main

sys.exit(main())
