"""Crashing inputs, and where fuzzers keep them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fuzzwise.errors import BadInput
from fuzzwise.received import parse_json, read_limited
from fuzzwise.triage.examine import INPUT, Limits

_LIBFUZZER = ("crash-", "oom-", "timeout-", "leak-", "slow-unit-")
_OF_FUZZWISE = frozenset({"bug.json", "report.txt"})
_RECORDING = ".fuzzlog"


@dataclass(frozen=True)
class CrashingInput:
    """An input that crashed a command once, wherever it is kept.

    ``load`` gives its content; ``trace`` names the stack of its crash, where the fuzzer saw it:
    inputs of one command with the same trace show the same bug.
    """

    name: str
    load: Callable[[], bytes]
    command: tuple[str, ...]
    limits: Limits = field(default_factory=Limits)
    trace: str | None = None


@dataclass(frozen=True)
class NamedCommand:
    """A command, and the file that says that it crashes on some inputs: to be trusted or not."""

    words: tuple[str, ...]
    file: Path


def find(paths: Iterable[Path], hangs: bool = False) -> list[Path]:
    """The files with inputs in files and folders, each once, in order.

    A folder is that of AFL++ (of all its instances, or of one), of ``fuzzwise fuzz``, the working
    folder of libFuzzer, where only the names that it gives to artifacts count, or else any folder
    of inputs, of which all files count. ``hangs`` adds those of AFL++. A link in a folder that
    leads out of it is refused: whoever made the folder would choose which of the user's files are
    copied and shown.
    """
    found: dict[Path, None] = {}
    for path in paths:
        if path.is_dir():
            try:
                inside = _in_folder(path, hangs)
            except OSError as error:
                raise BadInput(f"{error.filename}: cannot be read: {error.strerror}.") from error
            if not inside:
                raise BadInput(f"{path}: there are no inputs in this folder.")
            refuse_ways_out(path, inside)
            found.update(dict.fromkeys(inside))
        elif path.is_file():
            found[path] = None
        elif path.exists():
            raise BadInput(f"{path}: is neither a file nor a folder.")
        else:
            raise BadInput(f"{path}: there is no such file or folder.")
    return list(found)


def is_recording(path: Path) -> bool:
    """Whether a path is a folder that ``fuzzwise record`` made."""
    return path.is_dir() and any(path.glob(f"*{_RECORDING}"))


def from_files(
    paths: Iterable[Path], command: Sequence[str], limits: Limits
) -> list[CrashingInput]:
    """Inputs that are files, for one command."""
    words = tuple(command)
    return [CrashingInput(str(path), partial(_load, path), words, limits) for path in paths]


def command_of(paths: Iterable[Path]) -> NamedCommand | None:
    """The command of the campaigns of ``fuzzwise fuzz`` that the paths are in, if it is one.

    Whoever made the folder has chosen it.
    """
    named = [_named_target(path) for path in paths]
    if len({found and found.words for found in named}) != 1 or named[0] is None:
        return None
    return NamedCommand((*named[0].words, INPUT), named[0].file)


def _named_target(path: Path) -> NamedCommand | None:
    for folder in (path, *path.absolute().parents[:3]):
        file = folder / "campaign.json"
        try:
            record = parse_json(read_limited(file, follow=False))
        except (OSError, ValueError, BadInput):
            continue
        target = record.get("target") if isinstance(record, dict) else None
        if not isinstance(target, str):
            continue
        place = record.get("package", target)  # a fuzz test of Go is in no file of its own
        if not isinstance(place, str) or not Path(place).exists():
            raise BadInput(
                f"{folder}: is a campaign on {target}, which is not there (any more). Give the "
                f"program behind --, for example: fuzzwise triage {folder} -- {target} {INPUT}"
            )
        words = record.get("command")
        if isinstance(words, list) and len(words) > 1:  # a harness that another program runs
            return NamedCommand(tuple(map(str, words)), file)
        return NamedCommand((str(Path(target).absolute()),), file)
    return None


def refuse_ways_out(folder: Path, inside: Iterable[Path]) -> None:
    """BadInput where one of the files, by its name or by a link, is not in the folder."""
    home = folder.resolve()
    known: dict[Path, bool] = {}
    for path in inside:
        if path.parent not in known:
            known[path.parent] = path.parent.resolve().is_relative_to(home)
        if not known[path.parent] or (
            path.is_symlink() and not path.resolve().is_relative_to(home)
        ):
            raise BadInput(
                f"{path}: a link leads from here out of {folder}, and is not followed. Remove it; "
                "or if it is your own, give a copy with the files themselves (cp -rL)."
            )


def _load(path: Path) -> bytes:
    try:
        return read_limited(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read: {error.strerror}.") from error


def _in_folder(folder: Path, hangs: bool) -> list[Path]:
    if is_recording(folder):
        raise BadInput(
            f"{folder}: is a recording of `fuzzwise record`, which keeps no files of its inputs. "
            f"Triage it alone: fuzzwise triage {folder} --trust-command"
        )
    kinds = ("crashes", "hangs") if hangs else ("crashes",)
    homes = [folder / kind for kind in kinds] + [
        instance / kind for instance in sorted(_folders(folder)) for kind in kinds
    ]
    homes = [home for home in homes if home.is_dir()]
    if homes:
        return [path for home in homes for path in _files(home)]
    files = _files(folder)
    artifacts = [path for path in files if path.name.startswith(_LIBFUZZER)]
    return artifacts or files


def _files(home: Path) -> list[Path]:
    """The inputs in a folder; those of ``fuzzwise fuzz`` are one folder a bug deeper."""
    direct = [path for path in home.iterdir() if path.is_file() and _is_input(path)]
    deeper = [
        path
        for bug in _folders(home)
        if (bug / "bug.json").is_file()
        for path in bug.iterdir()
        if path.is_file() and _is_input(path)
    ]
    return sorted(direct + deeper)


def _is_input(path: Path) -> bool:
    # AFL++ puts a note for people beside its crashes.
    return path.name != "README.txt" and path.name not in _OF_FUZZWISE


def _folders(folder: Path) -> list[Path]:
    return [path for path in folder.iterdir() if path.is_dir()]
