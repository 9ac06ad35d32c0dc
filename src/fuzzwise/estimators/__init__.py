"""Estimators of the discovery probability Δ(n), the chance that the next input shows a new species.

- From the campaign's own discoveries: ``recent_rate``, ``growth``.
- From species seen once, for independent inputs: ``good_turing``, ``singleton_inputs``.
- From counts per seed: ``mean_local``, ``singleton_inputs``, ``reset``.
- From nothing but n: ``laplace``. From measured points: ``extrapolation``.
- ``richness``: how many species there are, and how many will be seen.

``waiting``: what seeds add that wait for their first turn. ``registry`` has all estimators by name;
``intervals`` the exact intervals they use.
"""
