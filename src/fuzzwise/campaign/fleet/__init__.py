"""Campaigns on many machines: who may take part, and where turns run."""
