"""Engines: what runs targets and reports observations."""
