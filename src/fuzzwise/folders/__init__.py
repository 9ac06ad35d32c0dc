"""Folders of targets that somebody has: what is in them, as a campaign file would say it."""
