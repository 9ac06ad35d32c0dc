"""An out/ folder as OSS-Fuzz makes them, from real libraries: to try ``fuzzwise run out`` on.

Run ``python benchmarks/out_folder.py OUT --work WORK`` and then, in an empty folder, ``fuzzwise run
OUT --time 60s``. It has targets of libFuzzer with AddressSanitizer, built by plain clang, with
archives of seeds, dictionaries and options; one build for AFL++; one wrapper script that starts
Atheris; and files that are no targets. Libraries are fetched and built as ``subjects.py`` does.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import zipfile
from pathlib import Path

from subjects import build, by_name

LIBRARIES = ("expat", "libpng", "zlib", "lz4", "nlohmann-json")
FOR_AFL = "lz4"
ASAN = ["-O1", "-g", "-fsanitize=fuzzer-no-link,address"]

OPTIONS = {
    "expat": "[libfuzzer]\nmax_len = 4096\ndict = xml.dict\ntimeout = 20\n[asan]\ndetect_leaks = 0\n",
    "libpng": "[libfuzzer]\nmax_len = random(100, 5000)\nuse_value_profile = 1\nclose_fd_mask = 3\n",
    "zlib": "[libfuzzer]\nlen_control = 0\n[ubsan]\nprint_stacktrace = 1\n[env]\nlanguage = C\n",
    "nlohmann-json": "[libfuzzer]\nfork = 1\nrss_limit_mb = 3000\n[grammar]\ngrammar = json\n",
}
DICTIONARIES = {
    "xml.dict": '"<?xml"\n"<!DOCTYPE"\n"<![CDATA["\n"&amp;"\n',
    "libpng_fuzzer.dict": '"IHDR"\n"IDAT"\n"\\x89PNG"\n',
    "nlohmann-json_fuzzer.dict": "this is no dictionary\n",
}
WRAPPER = """#!/bin/sh
# LLVMFuzzerTestOneInput for fuzzer detection.
this_dir=$(dirname "$0")
exec {python} "$this_dir/tomllib_fuzzer.py" "$@"
"""
ATHERIS = """import sys

import atheris

with atheris.instrument_imports():
    import tomllib


def TestOneInput(data):
    try:
        tomllib.loads(data.decode(errors="replace"))
    except ValueError:
        pass


atheris.Setup(sys.argv, TestOneInput)
atheris.Fuzz()
"""


def make(out: Path, work: Path) -> None:
    """Build everything and put it into the folder."""
    out.mkdir(parents=True)
    for name in LIBRARIES:
        subject = by_name(name)
        target = build(
            *(subject, work, "out-asan", ["clang"], ["clang++"], ASAN),
            ["-fsanitize=fuzzer,address"],
        )
        shutil.copy2(target, out / f"{name}_fuzzer")
        with zipfile.ZipFile(out / f"{name}_fuzzer_seed_corpus.zip", "w") as archive:
            for seed, data in subject.make_seeds().items():
                archive.writestr(seed, data)
    for name, text in OPTIONS.items():
        (out / f"{name}_fuzzer.options").write_text(text)
    for name, text in DICTIONARIES.items():
        (out / name).write_text(text)
    afl = build(
        *(by_name(FOR_AFL), work, "out-afl", ["afl-clang-fast"], ["afl-clang-fast++"]),
        *(["-O1", "-g"], ["-fsanitize=fuzzer"]),
    )
    shutil.copy2(afl, out / f"{FOR_AFL}_afl")
    _script(out / "tomllib_fuzzer", WRAPPER.format(python=sys.executable))
    (out / "tomllib_fuzzer.py").write_text(ATHERIS)
    _others(out)


def _others(out: Path) -> None:
    """What lies in such folders, and is no target."""
    (out / "expat_fuzzer.labels").write_text("security\n")
    (out / "README.md").write_text("How this was built.\n")
    (out / "oldlib_fuzzer_seed_corpus.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    shutil.copy2("/bin/true", out / "convert")
    _script(out / "llvm-symbolizer", "#!/bin/sh\n")
    _script(out / "afl-fuzz", "#!/bin/sh\n")
    (out / "__centipede_address").mkdir()


def _script(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def main() -> None:
    """Make the folder that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--work", type=Path, default=Path("work"))
    given = parser.parse_args()
    make(given.out, given.work)


if __name__ == "__main__":
    main()
