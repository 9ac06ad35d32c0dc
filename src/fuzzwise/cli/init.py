"""``fuzzwise init``: the campaign file for a folder of targets."""

from __future__ import annotations

from pathlib import Path

import click

from fuzzwise.cli import options, output
from fuzzwise.errors import BadInput
from fuzzwise.report import lines

DEFAULT = Path("campaign.toml")
STDOUT = "-"


@click.command()
@click.argument("folder", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    "file",
    type=click.Path(path_type=Path),
    default=DEFAULT,
    show_default=True,
    metavar="FILE",
    help="The campaign file to write; - prints it.",
)
@options.as_json
def command(folder: Path, file: Path, as_json: bool) -> None:
    """Write the campaign file that `fuzzwise run DIR` would use, commented, ready to edit.

    FOLDER is one of targets that you have: an out/ of OSS-Fuzz or ClusterFuzzLite, a crate with
    cargo-fuzz (which is built first), targets of AFL++, scripts of Atheris, or any mixture. Each of
    its files is listed with what it was taken for, or why it was not. With --json, that list is all
    there is: nothing is written. But for that build, nothing in the folder is changed.
    """
    from fuzzwise.folders.campaign_text import campaign_text
    from fuzzwise.folders.recognise import look_for_targets
    from fuzzwise.report import folder as shown

    is_printed = str(file) == STDOUT
    home = Path.cwd() if is_printed else file.absolute().parent
    if not (is_printed or as_json):
        _check(file)
    tree, found = look_for_targets(folder, lambda sentence: lines.say(sentence, err=True))
    if as_json:
        output.print_json(shown.as_json(tree, found))
        return
    text = campaign_text(tree, found, home)
    if is_printed:
        shown.say(tree, found, err=True)
        lines.say(text.rstrip("\n"))
        return
    _write(file, text)
    shown.say(tree, found)
    lines.say(f"Written to {file}. Edit it, then: fuzzwise run {file}")


def _check(file: Path) -> None:
    if file.exists() or file.is_symlink():
        raise BadInput(f"{file} is there already, and is not overwritten. Choose another with -o.")
    if not file.absolute().parent.is_dir():
        raise BadInput(f"{file.parent}: there is no such folder. Make it, or choose another file.")


def _write(file: Path, text: str) -> None:
    from fuzzwise.files import write_whole

    try:
        write_whole(file, text.encode())
    except OSError as error:
        raise BadInput(f"{file} cannot be written ({error.strerror}).") from error
