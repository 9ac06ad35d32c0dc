"""Configurations of the recorded data set: programs of Debian 12, each with a seed to mutate.

They are meant to differ as real ones do: some crash in every tenth run, some never did; the
fastest are a hundred times faster than the slowest. Some take two seeds, and some share bugs
because they share a library: the tools of HDF, of Berkeley DB, of id3lib, and those of
abcmidi that read MIDI files.

Only programs that list, check or convert are here. Left out is what runs commands that its input
names (awk, dc, bwbasic), what writes to places that its input names (archivers, when they
extract), and what crashes on its unchanged seed now and then.

Run ``python benchmarks/dataset_programs.py FOLDER`` to install the packages and make the seeds.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dataset_seeds import TOOL_PACKAGES, make_seeds


@dataclass(frozen=True)
class Configuration:
    """A program, its command with ``@@`` for the input file, and the name of its seed.

    ``timeout`` is in seconds: a run that takes longer is a hang.
    """

    name: str
    package: str
    command: str
    seed: str
    timeout: float = 0.5

    @property
    def words(self) -> tuple[str, ...]:
        """The command, split."""
        return tuple(self.command.split())

    @property
    def suffix(self) -> str:
        """The ending of the input's name, by which some programs go."""
        return Path(self.seed).suffix


_C = Configuration

CONFIGURATIONS: tuple[Configuration, ...] = (
    # music
    _C("midi2abc-one", "abcmidi", "midi2abc @@", "one-track.mid"),
    _C("midi2abc-two", "abcmidi", "midi2abc @@", "two-tracks.mid"),
    _C("mftext", "abcmidi", "mftext @@", "two-tracks.mid"),
    _C("midicopy", "abcmidi", "midicopy @@ out.mid", "two-tracks.mid"),
    _C("midistats", "abcmidi", "midistats @@", "two-tracks.mid"),
    _C("csvmidi", "midicsv", "csvmidi @@ out.mid", "tune.csv"),
    _C("yaps", "abcmidi", "yaps @@ -o out.ps", "tune.abc"),
    _C("abcm2ps", "abcm2ps", "abcm2ps -O out.ps @@", "tune.abc"),
    _C("id3v2", "id3v2", "id3v2 -l @@", "tagged.mp3"),
    _C("id3info", "libid3-tools", "id3info @@", "tagged.mp3"),
    _C("sox", "sox", "sox @@ -t raw /dev/null", "sound.wav"),
    # pictures
    _C("sgitopnm-packed", "netpbm", "sgitopnm @@", "packed.sgi"),
    _C("rasttopnm-packed", "netpbm", "rasttopnm @@", "packed.ras"),
    _C("exiftags", "exiftags", "exiftags -a @@", "camera.jpg"),
    _C("jxrdec", "libjxr-tools", "JxrDecApp -i @@ -o out.bmp", "picture.jxr"),
    _C("plot", "plotutils", "plot -T svg @@", "plot.meta"),
    _C("tiffcrop", "libtiff-tools", "tiffcrop -Z 1:2 -i @@ out.tif", "camera.tif"),
    _C("pngcheck", "pngcheck", "pngcheck -vt @@", "picture.png"),
    # tables and data
    _C("hdp-rig", "hdf4-tools", "hdp dumprig @@", "picture.hdf"),
    _C("hdp-list", "hdf4-tools", "hdp list @@", "picture.hdf"),
    _C("hdfls", "hdf4-tools", "hdfls -l @@", "picture.hdf"),
    _C("db-dump-btree", "db5.3-util", "db5.3_dump -p @@", "btree.db"),
    _C("db-dump-hash", "db5.3-util", "db5.3_dump -p @@", "hash.db"),
    _C("db-stat", "db5.3-util", "db5.3_stat -d @@", "btree.db"),
    _C("rrdtool-info", "rrdtool", "rrdtool info @@", "series.rrd"),
    _C("rrdtool-dump", "rrdtool", "rrdtool dump @@", "series.rrd"),
    _C("tnef", "tnef", "tnef -t @@", "message.tnef"),
    _C("arj", "arj", "arj t @@", "files.arj"),
    _C("tcptrace", "tcptrace", "tcptrace -l @@", "packets.pcap"),
    _C("tcpdump", "tcpdump", "tcpdump -nvvXr @@", "packets.pcap"),
    # programs and firmware
    _C("readpe", "pev", "readpe @@", "program.exe"),
    _C("readelf", "binutils", "readelf -aw @@", "object.o"),
    _C("dwarfdump", "dwarfdump", "dwarfdump -a @@", "object.o"),
    _C("iasl", "acpica-tools", "iasl -d @@", "table.aml"),
    _C("fdtdump", "device-tree-compiler", "fdtdump @@", "board.dtb"),
    _C("edid-decode", "edid-decode", "edid-decode @@", "monitor.edid"),
    _C("gpdasm", "gputils", "gpdasm -p p16f84 @@", "pic16.hex"),
    # languages
    _C("yasm", "yasm", "yasm -f elf32 -o out.o @@", "program.x86"),
    _C("z80asm", "z80asm", "z80asm -o out.o @@", "program.z80"),
    _C("crasm", "crasm", "crasm @@", "plain.6502"),
    _C("f2c", "f2c", "f2c @@", "fortran.f"),
    _C("ftnchek", "ftnchek", "ftnchek @@", "fortran.f"),
    _C("byacc", "byacc", "byacc -o out.c @@", "grammar.y"),
    # documents
    _C("mandoc-text", "mandoc", "mandoc @@", "page.1"),
    _C("tth", "tth", "tth @@", "page.tex"),
    _C("html2text", "html2text", "html2text @@", "page.html"),
)


def missing_packages() -> list[str]:
    """Packages that the programs and the making of seeds need and that are not installed."""
    wanted = sorted({row.package for row in CONFIGURATIONS} | set(TOOL_PACKAGES))
    query = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *wanted]
    shown = subprocess.run(query, capture_output=True, text=True, check=False).stdout
    present = {line.split()[0] for line in shown.splitlines() if line.endswith(" installed")}
    return [package for package in wanted if package not in present]


def install_packages() -> list[str]:
    """Install what is missing; the packages that were."""
    missing = missing_packages()
    if not missing:
        return []
    if os.geteuid() != 0:
        raise SystemExit(f"Packages are missing; install them: apt-get install {' '.join(missing)}")
    quiet = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "-qy", "install", "--no-install-recommends", *missing]
    subprocess.run(["apt-get", "-q", "update"], env=quiet, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(install, env=quiet, check=True, stdout=subprocess.DEVNULL)
    return missing


def main() -> None:
    """Set everything up in the folder that the command line names."""
    if len(sys.argv) != 2:
        raise SystemExit("usage: python benchmarks/dataset_programs.py FOLDER")
    installed = install_packages()
    seeds = make_seeds(Path(sys.argv[1]))
    print(f"{len(installed)} packages installed, {len(seeds)} seeds made in {sys.argv[1]}")
    for row in CONFIGURATIONS:
        print(f"{row.name:18} {row.command:40} {seeds[row.seed].stat().st_size:6} bytes")


if __name__ == "__main__":
    main()
