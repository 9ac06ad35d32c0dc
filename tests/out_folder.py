"""An out/ folder as OSS-Fuzz and ClusterFuzzLite make them, from small sources."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

from stock_target import build, wrapper

ECHO = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
/* Appends to a file that the test names what it was started with, once. */
static void tell(int argc, char **argv) {
  const char *path = getenv("TOLD");
  FILE *file = path ? fopen(path, "a") : NULL;
  char here[4096];
  if (!file) return;
  for (int i = 1; i < argc; i++) fprintf(file, "%s\n", argv[i]);
  fprintf(file, "cwd %s\n", getcwd(here, sizeof here));
  fprintf(file, "asan %s\n", getenv("ASAN_OPTIONS"));
  fprintf(file, "mode %s\n", getenv("MODE") ? getenv("MODE") : "");
  fclose(file);
}
int LLVMFuzzerInitialize(int *argc, char ***argv) { tell(*argc, *argv); return 0; }
static volatile int seen;
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size > 2 && data[0] == 'a' && data[1] == 'b') seen++;
  return 0;
}
"""

OPTIONS = """# as ClusterFuzz reads it
[libfuzzer]
max_len = 77
timeout = 12
rss_limit_mb = 1234
dict = words.dictionary
use_value_profile = 1
len_control = random(3, 9)
fork = 2

[asan]
detect_leaks = 0
strict_string_checks = 1

[ubsan]
print_stacktrace = 0

[env]
mode = strict

[grammar]
grammar = json
"""


def seeds(path: Path, *contents: bytes) -> None:
    """An archive of seeds."""
    with zipfile.ZipFile(path, "w") as file:
        for number, content in enumerate(contents):
            file.writestr(f"seeds/{number}", content)


def make_out(out: Path) -> Path:
    """The folder: five programs, a wrapper, what belongs to them, and files that are no targets."""
    out.mkdir(parents=True)
    source = out.parent / "echo.c"
    source.write_text(ECHO)
    first = build(out, source, name="parse_fuzzer")
    for name in ("with space", "größe", "at@1.2", "-runs=5"):
        shutil.copy2(first, out / name)
    wrapper(first, "wrapped_fuzzer")
    (out / "parse_fuzzer.options").write_text(OPTIONS)
    (out / "words.dictionary").write_text('one="abc"\n')
    (out / "parse_fuzzer.dict").write_text('not="this one"\n')
    (out / "parse_fuzzer.labels").write_text("security\n")
    seeds(out / "parse_fuzzer_seed_corpus.zip", b"abc", b"xyz")
    (out / "with space.dict").write_text('space="x y"\n')
    (out / "größe_corpus").mkdir()
    (out / "größe_corpus" / "ä").write_bytes(b"seed")
    (out / "at@1.2.options").write_text(
        "[libfuzzer\nmax_len = 5\nrubbish\n[libfuzzer]\nmax_len=x\n"
    )
    (out / "-runs=5.dict").write_text("no dictionary\n")
    (out / "gone_fuzzer_seed_corpus.zip").write_bytes(b"")
    (out / "README.md").write_text("Hello.\n")
    (out / "tool").write_text("#!/bin/sh\n")
    (out / "tool").chmod(0o755)
    shutil.copy2("/bin/true", out / "true")
    shutil.copy2(first, out / "lost_bit_fuzzer")
    (out / "lost_bit_fuzzer").chmod(0o644)
    (out / "llvm-symbolizer").write_text("#!/bin/sh\n")
    (out / "llvm-symbolizer").chmod(0o755)
    return out
