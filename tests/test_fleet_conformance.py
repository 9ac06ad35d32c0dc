"""The executor of a fleet keeps to the contract of executors."""

from __future__ import annotations

import pytest

from fleet_cluster import Cluster
from fuzzwise.testing import check_executor


@pytest.mark.parametrize("cores", [1, 3])
def test_the_executor_of_a_fleet_keeps_to_its_contract(cores):
    with Cluster(cores) as cluster:
        check_executor(cluster.executor)
