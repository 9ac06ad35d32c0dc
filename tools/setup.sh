#!/bin/sh
# Set up the virtual environment given as argument, and what it needs from the system.
set -eu
venv=$1
python=${PYTHON:-python3}

fail() {
    echo "setup: $1" >&2
    exit 1
}

# Ask the system's package manager only for what is missing, and only where it can be asked.
need_package() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "setup: installing $* with apt-get" >&2
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >&2
    else
        fail "missing: $*. Install with: sudo apt-get install $*"
    fi
}

# What is only wanted: tests of it are skipped where it cannot be had.
want_package() {
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        (need_package "$@") || echo "setup: without $*, its tests are skipped" >&2
    else
        echo "setup: without $*, its tests are skipped; install with: sudo apt-get install $*" >&2
    fi
}

# A program out of a package of the system, for tests alone: the package itself would start a service.
want_program() {
    scratch=$(mktemp -d)
    (
        cd "$scratch" && apt-get download -qq "$1" &&
            dpkg-deb --fsys-tarfile "$1"_*.deb | tar -x "./usr/bin/$1"
    ) >/dev/null 2>&1 && mv "$scratch/usr/bin/$1" "$2" ||
        echo "setup: without $1, its tests are skipped; install with: sudo apt-get install $1" >&2
    rm -rf "$scratch"
}

command -v "$python" >/dev/null || need_package python3
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' ||
    fail "Python 3.11 or newer is needed, $("$python" -V) found. Name another: make PYTHON=python3.12 …"
"$python" -c 'import ensurepip, venv' 2>/dev/null || need_package python3-venv

# The fuzzing engine needs clang with the fuzzer runtime of the same version; triage needs gdb.
command -v clang >/dev/null || need_package clang
runtime=$(clang -print-resource-dir)
found=$(find -L "$runtime" "$(clang -print-runtime-dir)" -name 'libclang_rt.fuzzer_no_main*' 2>/dev/null | head -n 1)
[ -n "$found" ] || need_package "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
# Black-box programs are examples and tests of ours; a small library goes beside any of them.
command -v cc >/dev/null || need_package gcc libc6-dev
command -v gdb >/dev/null || need_package gdb
# The second engine.
command -v afl-fuzz >/dev/null || need_package afl++
command -v llvm-symbolizer >/dev/null || ls /usr/lib/llvm-*/bin/llvm-symbolizer >/dev/null 2>&1 ||
    need_package llvm
# The live page is tried in a browser.
command -v chromium >/dev/null || want_package chromium
# Fuzz tests of Go, and harnesses in Rust.
command -v go >/dev/null || want_package golang-go
command -v rustc >/dev/null || want_package rustc
# The store of a fleet; Debian keeps the server out of the path.
command -v postgres >/dev/null || ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 ||
    want_package postgresql

[ -x "$venv/bin/python" ] || "$python" -m venv "$venv"
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check \
    --constraint constraints.txt --editable '.[lab,serve,fleet,dev,python]'
# The queries of the dashboard are tried in Prometheus.
command -v prometheus >/dev/null || [ -x "$venv/bin/prometheus" ] || want_program prometheus "$venv/bin"
