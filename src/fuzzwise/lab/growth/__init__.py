"""FuzzSim for coverage-guided targets: how each one grows, recorded once, and schedules of them."""
