"""C and C++ function names: the part that names the function, and which functions are noise."""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"\boperator\s?(?:\(\)|\[\]|<=>|<<=|>>=|->\*|<<|>>|<=|>=|->|<|>|(?=\w))|->|[<>()\[\]{} ]"
)
_OPENING = frozenset("<([{")
_CLOSING = frozenset(">)]}")
_OPERATOR = re.compile(r"\boperator\b")
# What compilers and linkers append to the symbol of a function they copied or versioned.
_SUFFIX = re.compile(
    r"(?:\.(?:part|isra|constprop|cold|llvm|lto_priv|\d+)\b)+|@@?[A-Z][\w.]*$|\[abi:\w*\]"
    r"|::h[0-9a-f]{16}$"
)

_NOISE_NAMES = """
malloc calloc realloc reallocarray free cfree memalign aligned_alloc posix_memalign valloc pvalloc
_int_malloc _int_free _int_realloc _int_memalign _int_free_merge_chunk sysmalloc malloc_printerr
malloc_consolidate unlink_chunk __libc_malloc __libc_calloc __libc_realloc __libc_free
__libc_memalign
memcpy memmove memset memcmp memchr memrchr memmem mempcpy bcmp bzero strlen strnlen strcpy strncpy
strcat strncat strcmp strncmp strcasecmp strncasecmp strchr strrchr strstr strdup strndup wcslen
wmemcpy wmemset
raise gsignal abort kill killpg tkill tgkill pthread_kill __pthread_kill __restore_rt
__pthread_kill_implementation __pthread_kill_internal __assert __assert_fail __assert_fail_base
__assert_perror_fail __libc_message __libc_message_impl __libc_fatal __fortify_fail
__fortify_fail_abort __chk_fail __stack_chk_fail std::terminate std::__terminate
std::__glibcxx_assert_fail std::__replacement_assert __cxa_throw __cxa_rethrow
__cxxabiv1::__terminate __gnu_cxx::__verbose_terminate_handler exit _exit __run_exit_handlers
fread fwrite fgets fgetc getc fputs fputc putc puts ungetc fclose fflush fseek ftell rewind getline
getdelim fread_unlocked fwrite_unlocked getc_unlocked putc_unlocked
main _start start_thread clone clone3 __clone __clone3
"""
_ALLOCATING = {"operator new", "operator new[]", "operator delete", "operator delete[]"}
_NOISE = frozenset(_NOISE_NAMES.split()) | _ALLOCATING
_NOISE_PREFIXES = (
    *("__asan", "__hwasan", "__lsan", "__msan", "__tsan", "__ubsan", "__sanitizer", "__sancov"),
    *("__interceptor_", "___interceptor_", "__interception", "fuzzer::", "__libc_start_"),
    *("std::__throw_", "<signal handler"),
    # How Rust panics, and how cargo-fuzz calls a harness.
    *("std::sys::", "std::sys_common::", "std::process::abort", "std::panicking::", "__rustc::"),
    *("core::panicking::", "panic_abort::", "rust_begin_unwind", "rust_panic", "__rust_"),
    *("core::option::unwrap_failed", "core::option::expect_failed", "core::result::unwrap_failed"),
    *("core::slice::index::slice_", "core::str::slice_error_fail", "libfuzzer_sys::"),
    *("rust_fuzzer_test_input", "std::panic::catch_unwind"),
)
# glibc picks these by the processor, so that the same bug has another top frame elsewhere.
_VARIANT = re.compile(r"__(?:mem|str|stp|wcs|wmem)\w*_(?:avx|sse|evex|erms|generic|ssse|asimd)\w*")
# What is inside of reading and writing; programs pass their own mistakes to it.
_STDIO = re.compile(
    r"_IO_\w+|_{0,2}v?(?:f|s|sn|d|as)?w?printf(?:_chk|_internal)?"
    r"|_{0,2}(?:isoc99_)?v?[fs]?w?scanf(?:_internal)?|__\w*printf_(?:buffer|positional|function)\w*"
)
_RUNTIME = re.compile(
    r"(?:libc|libstdc\+\+|libc\+\+|libc\+\+abi|libgcc_s|libpthread|ld-linux[-\w]*|ld-musl[-\w]*"
    r"|lib[ahlmtu]\w*san|libclang_rt)[-.].*"
)


def top_level(text: str) -> list[tuple[int, str]]:
    """The spaces and round brackets outside of all brackets, with their places.

    The symbols of ``operator<`` and the like, and the arrow, do not count as brackets.
    """
    found: list[tuple[int, str]] = []
    depth = 0
    for match in _TOKEN.finditer(text):
        token = match[0]
        if token in _CLOSING:
            depth = max(depth - 1, 0)
        if depth == 0 and token in (" ", "(", ")"):
            found.append((match.start(), token))
        if token in _OPENING:
            depth += 1
    return found


def plain(function: str) -> str:
    """The function without return type, arguments, qualifiers and the marks of compilers.

    gdb prints ``f<int>`` for what sanitizers call ``int f<int>(char*) const``; both become the
    same. Overloads of a function become the same, too.
    """
    name = function.split(" [clone", 1)[0]
    if name.startswith("<signal handler"):
        return name
    marks = top_level(name)
    for index, (start, mark) in enumerate(marks):
        end = marks[index + 1][0] if index + 1 < len(marks) else len(name)
        # A scope ("(anonymous namespace)::", "f(int)::{lambda()#1}") is not an argument list.
        if mark == "(" and not name.startswith("::", end + 1):
            name = name[:start]
            break
    # Spaces in the name itself only follow "operator"; before it, they end the return type.
    limit = max((match.start() for match in _OPERATOR.finditer(name)), default=len(name))
    begin = max((at + 1 for at, mark in marks if mark == " " and at < limit), default=0)
    return re.sub(r"\s++>", ">", _SUFFIX.sub("", name[begin:])).strip().removeprefix("__GI_")


def is_noise(name: str, module: str) -> bool:
    """Whether a frame says how a crash was noticed or started, rather than where the bug is.

    ``name`` is a plain name, or empty; ``module`` is a base name, or empty.
    """
    if not name:
        return _RUNTIME.fullmatch(module) is not None
    return (
        name in _NOISE
        or name.startswith(_NOISE_PREFIXES)
        or _VARIANT.fullmatch(name) is not None
        or _STDIO.fullmatch(name) is not None
    )
