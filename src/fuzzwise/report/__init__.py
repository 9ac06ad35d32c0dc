"""Charts and pages, for people."""
