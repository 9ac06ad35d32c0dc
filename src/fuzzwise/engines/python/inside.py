"""A Python harness at work, inside of the interpreter that runs it."""

from __future__ import annotations

import faulthandler
import os
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

from fuzzwise.engines.python.failures import Failures
from fuzzwise.engines.python.instrument import Counters, Finder, own_imports, without_finders
from fuzzwise.engines.python.uncaught import tell, told

NAME = "TestOneInput"
CHECK = "--check="
CRASHED = 77
UNUSABLE = 2
STDERR = 2
"""As a number: a target may put anything in place of sys.stderr."""

NUMBERS = "counters"
"""The file in the state folder that keeps the numbers of counters."""

OF_ATHERIS = 256
"""Counters that Atheris adds to ours when it starts; it takes some 20."""

Function = Callable[[bytes], object]


class Unusable(Exception):
    """The harness cannot be fuzzed; the sentence goes on behind its name."""


class _Checked(BaseException):
    """The harness has asked to be fuzzed, and that was all that had to be known."""


def run(words: Sequence[str]) -> None:
    """Fuzz with a harness, run it on files, or only look whether it can be used."""
    path, arguments = os.path.abspath(words[0]), list(words[1:])  # noqa: PTH100 - pathlib is heavy
    # For this process alone: what the target starts is not fuzzed.
    for name in ("LD_PRELOAD", "FUZZWISE_PARENT"):
        os.environ.pop(name, None)
    before = set(sys.modules)
    if arguments and arguments[0].startswith(CHECK):
        runner = Runner(path, [], [])
        _check(runner, before, arguments[0].removeprefix(CHECK))
    options = [word for word in arguments if word.startswith("-")]
    files = [word for word in arguments if not word.startswith("-")]
    runner = Runner(path, options, files)
    try:
        runner.load()
        runner.go()
    except Unusable as problem:
        sys.stderr.write(f"fuzzwise: {path} {problem}\n")
        sys.exit(UNUSABLE)


class Runner:
    """One harness; with ``files`` it is run on these, otherwise it is fuzzed."""

    def __init__(self, path: str, options: Sequence[str], files: Sequence[str]) -> None:
        self.path = path
        self._options = options
        self._files = files
        self.checking = False
        self._function: Function | None = None
        self._settings: dict[str, Any] = {}
        self.counters: Counters | None = None
        self._atheris: Any = None

    def load(self) -> None:
        """Execute the harness, instrumented, with what it imports."""
        self._meet_atheris()
        sys.path[0] = os.path.dirname(self.path)  # noqa: PTH120
        sys.argv = [self.path, *self._options, *self._files]
        try:
            with open(self.path, "rb") as file:  # noqa: PTH123
                source = file.read()
            code = compile(source, self.path, "exec")
        except OSError as error:
            raise Unusable(f"cannot be read ({error.strerror}).") from error
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            where = f"line {line}: " if line else ""
            raise Unusable(f"is not Python: {where}{getattr(error, 'msg', error)}.") from error
        if self.counters:
            code = self.counters.patch(code)
        # A script of Atheris has its start behind the usual question for the name.
        is_script = b"atheris" in source
        name = "__main__" if is_script else os.path.basename(self.path).rpartition(".")[0]  # noqa: PTH119
        module = ModuleType(name)
        module.__file__ = self.path
        if is_script or name not in sys.modules:  # a harness may be called like a module of Python
            sys.modules[name] = module
        exec(code, module.__dict__)  # noqa: S102 - to run the harness is the purpose
        if self._function is None:
            self._function = getattr(module, NAME, None)

    def go(self) -> None:
        """Do what was asked for; called when the harness is loaded, or by the harness itself."""
        function = self._function
        if not callable(function):
            raise Unusable(f"has no function {NAME}(data).")
        if self.checking:
            raise _Checked
        if self._files:
            self._run_files(function)
        self._fuzz(function)

    def _meet_atheris(self) -> None:
        try:
            import atheris
        except ImportError:
            if self._files:
                return  # a harness that does not use it can be run without
            raise
        self._atheris = atheris
        self._start, self._fuzz_there = atheris.Setup, atheris.Fuzz
        atheris.Setup = self._setup
        atheris.Fuzz = self.go
        if self._files:
            return
        state = os.environ.get("FUZZWISE_STATE")
        self.counters = Counters(atheris, f"{state}/{NUMBERS}" if state else None)
        atheris.instrument_imports = self._instrument_imports
        Finder(self.counters).__enter__()

    def _setup(self, words: Sequence[str], function: Function, **settings: Any) -> list[str]:
        self._function = function
        self._settings = settings
        return [word for word in words if not word.startswith("-") or word.startswith("--")]

    def _instrument_imports(
        self,
        include: Sequence[str] | None = None,
        exclude: Sequence[str] | None = None,
        **_: object,
    ) -> Finder:
        """A script says itself what is instrumented, instead of all that it imports."""
        assert self.counters
        without_finders().__enter__()
        return Finder(self.counters, include or (), exclude or ())

    def _run_files(self, function: Function) -> NoReturn:
        faulthandler.enable(STDERR, all_threads=False)
        for path in self._files:
            with open(path, "rb") as file:  # noqa: PTH123
                data = file.read()
            try:
                function(data)
            except BaseException as error:
                tell(error, __file__)
                _end(CRASHED)
        _end(0)

    def _fuzz(self, function: Function) -> None:
        counters = self.counters
        assert counters
        if counters.made == 0:
            raise Unusable("has no code that could be instrumented.")
        counters.make_room()
        os.environ["FUZZWISE_ROOM"] = str(counters.room + OF_ATHERIS)
        faulthandler.disable()  # libFuzzer takes no signal that somebody has already
        failures = Failures(_option(self._options, "-artifact_prefix="))
        failed = _engine_function("fuzzwise_failed")
        ready = False

        def one_input(data: bytes) -> None:
            nonlocal ready
            if not ready:
                ready = True
                counters.take_over()
                # First the Python stack, then libFuzzer.
                faulthandler.enable(STDERR, all_threads=False)
            try:
                function(data)
            except BaseException as error:
                failed()
                if failures.is_news(error):
                    failures.write(error, data, told(error, __file__))

        settings = {**self._settings, "internal_libfuzzer": False}
        self._start([self.path, *self._options], one_input, **settings)
        try:
            self._fuzz_there()
        except BaseException as error:  # of a mutator of the harness; libFuzzer is in the middle
            tell(error, __file__)
            _end(UNUSABLE)


def _option(options: Sequence[str], name: str) -> str:
    """The value of the last option of that name."""
    return ([""] + [word.removeprefix(name) for word in options if word.startswith(name)])[-1]


def _engine_function(name: str) -> Callable[[], object]:
    """A function of the library that was loaded before everything else."""
    with own_imports():
        import ctypes

    function: Callable[[], object] = getattr(ctypes.PyDLL(None), name)
    return function


def _check(runner: Runner, before: set[str], answer: str) -> NoReturn:
    """Write what is known of a harness, or what is wrong with it, to a file."""
    runner.checking = True
    found: dict[str, object] = {}
    try:
        try:
            runner.load()
            runner.go()
        except _Checked:
            pass
        assert runner.counters
        if runner.counters.made == 0:
            raise Unusable("has no code that could be instrumented.")
        files = _files(before) | {runner.path}
        found = {"counters": runner.counters.made, "files": sorted(files), **_versions()}
    except Unusable as problem:
        found = {"problem": str(problem)}
    except BaseException as error:
        found = {"problem": f"cannot be loaded: {_told(error, sys.argv[0])}"}
    with own_imports():
        import json

    with open(answer, "w", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
        json.dump(found, file)
    _end(0)


def _told(error: BaseException, path: str) -> str:
    """An exception in a sentence: what, and which line of the harness led to it."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == path:
            line = trace.tb_lineno
        trace = trace.tb_next
    try:
        message = str(error)[:300]
    except Exception:
        message = "…"
    words = f"{type(error).__name__}: {message}" if message else type(error).__name__
    return f"{words.rstrip('.')} (line {line})." if line else f"{words.rstrip('.')}."


def _files(before: set[str]) -> set[str]:
    """The files of all modules that the harness has imported, those of Python itself left out."""
    with own_imports():
        import sysconfig

    home = sysconfig.get_paths()["stdlib"]
    found = set()
    for name, module in list(sys.modules.items()):
        path = getattr(module, "__file__", None)
        if name in before or not isinstance(path, str) or name.startswith("atheris"):
            continue
        if path.startswith(f"{home}/") and "-packages/" not in path:
            continue
        found.add(os.path.abspath(path))  # noqa: PTH100
    return found


def _versions() -> dict[str, str]:
    with own_imports():
        from importlib.metadata import version

        return {"python": sys.version, "atheris": version("atheris")}


def _end(status: int) -> NoReturn:
    """Without the exit functions of a target, which may hang."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue
    os._exit(status)
