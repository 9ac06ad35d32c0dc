"""Fuzz tests of Go (``func FuzzX(f *testing.F)``), under Go's own fuzzer: ``go test -fuzz``."""
