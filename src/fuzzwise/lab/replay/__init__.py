"""Schedulers played against recordings."""
