"""Where files may lie that the input leads to: in what the user named, and nowhere else unless the user says so."""

from __future__ import annotations

import os
from collections.abc import Iterable

from kubeproof.values import dataclass

WHY = "left out, it leads out of the input; name what it leads to as well, or add --allow-outside"
REMEDY = "Name its directory as an input, too, or add --allow-outside"


@dataclass(frozen=True, slots=True)
class Fence:
    """Directories, and all that is in them; None stands for the whole file system."""

    roots: tuple[str, ...] | None = None

    def admits(self, path: str) -> bool:
        """True if the path, with all links followed, ends inside."""
        if self.roots is None:
            return True
        try:
            real = os.path.realpath(path)
            return any(os.path.commonpath((real, root)) == root for root in self.roots)
        except ValueError:  # on another drive, or no path at all
            return False


def fence_of(paths: Iterable[str], *, stdin: str = "-", allow_outside: bool = False) -> Fence:
    """The fence around the named directories, and around the directories of named files.

    Standard input stands for the working directory: what a Scenario there names is looked for in it.
    """
    if allow_outside:
        return Fence()
    found = []
    for path in paths:
        inside = path if os.path.isdir(path) else os.path.dirname(path)
        found.append(os.path.realpath("." if path == stdin else inside or "."))
    return Fence(tuple(dict.fromkeys(found)))
