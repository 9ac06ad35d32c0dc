"""Recordings: what black-box fuzzing of many configurations showed, as files and as values."""
