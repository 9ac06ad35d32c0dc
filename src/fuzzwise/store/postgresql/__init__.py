"""Campaigns in a PostgreSQL database: many in one, each with one writer on whichever machine."""
