"""Configurations of the recorded data set: programs of Debian 12, each with a seed to mutate.

They are meant to differ as real ones do: some crash in every tenth run, some never did; the
fastest are a hundred times faster than the slowest. Some take two seeds that use other features of
the format, and some share bugs because they share a library: the tools of HDF, of Berkeley DB, of
id3lib, those of abcmidi that read MIDI files, and those that read tunes.

Only programs that list, check or convert are here. Left out is what runs commands that its input
names (awk, dc, bwbasic), what writes to places that its input names (archivers, when they
extract; tcc, re2c and acme, whose sources can name the output), and what crashes on its unchanged
seed now and then.

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
    _C("sox-voc", "sox", "sox @@ -t raw /dev/null", "sound.voc"),
    _C("abcm2ps-another", "abcm2ps", "abcm2ps -O out.ps @@", "another.abc"),
    _C("abc2midi", "abcmidi", "abc2midi @@ -o out.mid", "another.abc"),
    _C("abc2abc", "abcmidi", "abc2abc @@", "another.abc"),
    _C("yaps-another", "abcmidi", "yaps @@ -o out.ps", "another.abc"),
    _C("id3info-mpeg2", "libid3-tools", "id3info @@", "mpeg2.mp3"),
    _C("mp3info", "mp3info", "mp3info -x @@", "tagged.mp3"),
    _C("mp3val", "mp3val", "mp3val @@", "mpeg2.mp3"),
    _C("sfinfo-aiff", "audiofile-tools", "sfinfo @@", "sound.aiff"),
    _C("sfconvert-adpcm", "audiofile-tools", "sfconvert @@ out.raw format aiff", "adpcm.wav"),
    # pictures
    _C("sgitopnm-packed", "netpbm", "sgitopnm @@", "packed.sgi"),
    _C("rasttopnm-packed", "netpbm", "rasttopnm @@", "packed.ras"),
    _C("exiftags", "exiftags", "exiftags -a @@", "camera.jpg"),
    _C("jxrdec", "libjxr-tools", "JxrDecApp -i @@ -o out.bmp", "picture.jxr"),
    _C("plot", "plotutils", "plot -T svg @@", "plot.meta"),
    _C("tiffcrop", "libtiff-tools", "tiffcrop -Z 1:2 -i @@ out.tif", "camera.tif"),
    _C("pngcheck", "pngcheck", "pngcheck -vt @@", "picture.png"),
    _C("pngcheck-palette", "pngcheck", "pngcheck -vt @@", "palette.png"),
    _C("pngchunks", "pngtools", "pngchunks @@", "palette.png"),
    _C("rasttopnm-bits", "netpbm", "rasttopnm @@", "bits.ras"),
    _C("ilbmtoppm", "netpbm", "ilbmtoppm @@", "colours.ilbm"),
    _C("pcxtoppm", "netpbm", "pcxtoppm @@", "colours.pcx"),
    _C("xpmtoppm", "netpbm", "xpmtoppm @@", "colours.xpm"),
    _C("jbgtopbm", "jbigkit-bin", "jbgtopbm @@ out.pbm", "bits.jbg"),
    _C("giftext", "giflib-tools", "giftext @@", "moving.gif"),
    _C("jxrdec-grey", "libjxr-tools", "JxrDecApp -i @@ -o out.bmp", "grey.jxr"),
    _C("tiffcrop-fax", "libtiff-tools", "tiffcrop -Z 1:2 -i @@ out.tif", "fax.tif"),
    _C("icotool", "icoutils", "icotool -l @@", "icon.ico"),
    # tables and data
    _C("hdp-rig", "hdf4-tools", "hdp dumprig @@", "picture.hdf"),
    _C("hdp-list", "hdf4-tools", "hdp list @@", "picture.hdf"),
    _C("hdp-sds", "hdf4-tools", "hdp dumpsds @@", "numbers.hdf"),
    _C("hdfls", "hdf4-tools", "hdfls -l @@", "picture.hdf"),
    _C("db-dump-btree", "db5.3-util", "db5.3_dump -p @@", "btree.db"),
    _C("db-dump-hash", "db5.3-util", "db5.3_dump -p @@", "hash.db"),
    _C("db-stat", "db5.3-util", "db5.3_stat -d @@", "btree.db"),
    _C("db-dump-queue", "db5.3-util", "db5.3_dump -p @@", "queue.db"),
    _C("dbview", "dbview", "dbview @@", "table.dbf"),
    _C("xls2csv", "catdoc", "xls2csv @@", "book.xls"),
    _C("plistutil", "libplist-utils", "plistutil -i @@", "list.plist"),
    _C("pgpdump", "pgpdump", "pgpdump -i @@", "keys.pgp"),
    _C("msgunfmt", "gettext", "msgunfmt @@", "book.mo"),
    _C("tic", "ncurses-bin", "tic -c @@", "terminal.ti"),
    _C("rrdtool-info", "rrdtool", "rrdtool info @@", "series.rrd"),
    _C("rrdtool-dump", "rrdtool", "rrdtool dump @@", "series.rrd"),
    _C("tnef", "tnef", "tnef -t @@", "message.tnef"),
    _C("arj", "arj", "arj t @@", "files.arj"),
    _C("lhasa", "lhasa", "lhasa t @@", "archive.lzh"),
    _C("cabextract", "cabextract", "cabextract -t @@", "archive.cab"),
    _C("unzip", "unzip", "unzip -t @@", "archive.zip"),
    _C("tcptrace", "tcptrace", "tcptrace -l @@", "packets.pcap"),
    _C("tcpdump", "tcpdump", "tcpdump -nvvXr @@", "packets.pcap"),
    _C("tcpdump-six", "tcpdump", "tcpdump -nvvr @@", "packets6.pcap"),
    # programs and firmware
    _C("readpe", "pev", "readpe @@", "program.exe"),
    _C("readelf", "binutils", "readelf -aw @@", "object.o"),
    _C("readelf-library", "binutils", "readelf -aw @@", "library.so"),
    _C("wrestool", "icoutils", "wrestool -l @@", "program.exe"),
    _C("dumpimage", "u-boot-tools", "dumpimage -l @@", "firmware.img"),
    _C("dumpimage-fit", "u-boot-tools", "dumpimage -l @@", "image.itb"),
    _C("luac", "lua5.4", "luac5.4 -l -l -p @@", "program.luac"),
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
    _C("byacc-bsd", "byacc", "byacc -o out.c @@", "yacc-bsd.y"),
    _C("f2c-77", "f2c", "f2c @@", "fortran77.f"),
    _C("yasm-gas", "yasm", "yasm -p gas -f elf64 -o out.o @@", "program.gas"),
    _C("nasm", "nasm", "nasm -f elf64 -o out.o @@", "program.nasm"),
    _C("crasm-macros", "crasm", "crasm @@", "macros.6801"),
    _C("64tass", "64tass", "64tass -o out.prg @@", "program.tass"),
    _C("dasm", "dasm", "dasm @@ -f3 -oout.bin", "program.dasm"),
    _C("xa", "xa65", "xa -w -R -o out.o65 @@", "program.xa"),
    _C("pasmo", "pasmo", "pasmo @@ out.bin", "program.pasmo"),
    _C("as31", "as31", "as31 -s @@", "program.8051"),
    _C("avra", "avra", "avra @@", "program.avr"),
    _C("gpasm", "gputils", "gpasm -o out.hex @@", "program.pic"),
    _C("ragel", "ragel", "ragel -o out.c @@", "scanner.rl"),
    _C("indent", "indent", "indent @@ -o out.c", "small.c"),
    _C("admesh", "admesh", "admesh @@", "solid.stl"),
    # documents
    _C("mandoc-text", "mandoc", "mandoc @@", "page.1"),
    _C("tth", "tth", "tth @@", "page.tex"),
    _C("html2text", "html2text", "html2text @@", "page.html"),
    _C("html2text-nesting", "html2text", "html2text @@", "nesting.html"),
    _C("mandoc-mdoc", "mandoc", "mandoc -T html @@", "mdoc.8"),
    _C("unrtf", "unrtf", "unrtf @@", "document.rtf"),
    _C("markdown", "discount", "markdown @@", "text.md"),
    _C("bib2xml", "bibutils", "bib2xml @@", "book.bib"),
    _C("ris2xml", "bibutils", "ris2xml @@", "book.ris"),
    _C("tbl", "groff-base", "tbl @@", "table.tbl"),
    _C("t1asm", "t1utils", "t1asm @@", "font.t1"),
    _C("bdftopcf", "xfonts-utils", "bdftopcf -o out.pcf @@", "font.bdf"),
    _C("pcf2bdf", "pcf2bdf", "pcf2bdf @@", "font.pcf"),
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
