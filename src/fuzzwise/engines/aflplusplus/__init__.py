"""AFL++ as an engine: afl-fuzz does the fuzzing, a library that it loads counts what it does."""
