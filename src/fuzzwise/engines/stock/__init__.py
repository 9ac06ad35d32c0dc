"""Programs that take libFuzzer's command line, fuzzed as they are: nothing is built anew."""
