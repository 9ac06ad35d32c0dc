"""Stock libFuzzer, observed: our seed schedule and exact counts inside an unmodified fuzzer."""
