"""The observer: counts every input of a fuzzer, in files that outlive it; shared by engines."""
