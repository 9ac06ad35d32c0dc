"""Campaigns on an urn: the truth is known exactly."""
