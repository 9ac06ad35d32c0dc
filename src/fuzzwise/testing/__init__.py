"""Checks for engines, stores and executors of your own, each against its contract.

The contracts are the texts of ``fuzzwise.engines.contract``, ``fuzzwise.store.contract`` and
``fuzzwise.campaign.executor``. Each check uses what it is given for real, as a campaign does, and
raises ``Broken`` at the first clause that does not hold; where all hold, it returns. They are plain
functions, for whichever test runner.
"""

from __future__ import annotations

from fuzzwise.testing.broken import Broken
from fuzzwise.testing.engines import check_engine
from fuzzwise.testing.executors import check_executor
from fuzzwise.testing.sessions import check_session
from fuzzwise.testing.stores import check_store

__all__ = ["Broken", "check_engine", "check_executor", "check_session", "check_store"]
