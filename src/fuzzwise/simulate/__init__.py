"""Simulated campaigns whose truth is known exactly."""
