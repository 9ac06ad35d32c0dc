"""The laboratory: recordings, replays, optima, simulated campaigns, and estimators on trial."""
