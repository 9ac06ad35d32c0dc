"""Campaigns of other fuzzers shown."""
