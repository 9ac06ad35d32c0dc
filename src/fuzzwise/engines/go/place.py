"""The folder in which a test runs: its package's, as it looks to the test, but none of the user's.

Go writes a failing input to ``testdata/fuzz/FuzzX`` of the folder in which a test runs, and tests
read files beside them. So the folders from the module down to the package are made anew, with links
to whatever else is in them; only ``testdata/fuzz/FuzzX`` is ours, with copies of the seeds.
"""

from __future__ import annotations

import shutil
from collections.abc import Collection
from contextlib import suppress
from pathlib import Path

from fuzzwise.engines.go.module import FuzzTest, module_of
from fuzzwise.files import make_folders


class Place:
    """The folders of one test, below ``folder``."""

    def __init__(self, test: FuzzTest, folder: Path) -> None:
        self._test = test
        self._root = folder / "module"
        self._module = module_of(test.package) or test.package.absolute()
        below = test.package.absolute().relative_to(self._module)
        self.package = self._root / below
        """Where the test runs."""
        self._seeds = Path("testdata", "fuzz", test.function)
        self.inputs = self.package / self._seeds
        """Where Go reads seeds, and writes inputs that fail."""

    def left(self) -> list[Path]:
        """Inputs that failed, and that nobody has taken away."""
        theirs = {path.name for path in self._given()}
        found = self.inputs.iterdir() if self.inputs.is_dir() else iter(())
        return sorted(path for path in found if path.is_file() and path.name not in theirs)

    def lay(self, skipped: Collection[str] = ()) -> None:
        """Make it anew, with all seeds of the user but those in ``skipped``."""
        with suppress(FileNotFoundError):
            shutil.rmtree(self._root)
        make_folders(self.inputs)
        real, ours = self._module, self._root
        steps = [*self.package.relative_to(self._root).parts, *self._seeds.parts]
        for step in steps:
            _link_all(real, ours, step)
            real, ours = real / step, ours / step
        for path in self._given():
            if path.name not in skipped:
                shutil.copyfile(path, self.inputs / path.name)

    def seed_names(self) -> set[str]:
        """The names of the user's seeds."""
        return {path.name for path in self._given()}

    def seed(self, name: str) -> Path:
        """A seed of the user."""
        return self._test.package / self._seeds / name

    def _given(self) -> list[Path]:
        folder = self._test.package / self._seeds
        found = folder.iterdir() if folder.is_dir() else iter(())
        return sorted(path for path in found if path.is_file())


def _link_all(real: Path, ours: Path, but: str) -> None:
    """Links to all that is in a folder, but for one name."""
    for path in real.iterdir() if real.is_dir() else ():
        if path.name != but:
            with suppress(FileExistsError):
                (ours / path.name).symlink_to(path.absolute())
