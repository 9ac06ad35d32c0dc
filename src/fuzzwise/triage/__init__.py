"""Triage: which bug a crash is, from the report of a sanitizer, of libFuzzer or of gdb."""
