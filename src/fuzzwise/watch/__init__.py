"""Campaigns that other fuzzers run, read from the files that they write."""
