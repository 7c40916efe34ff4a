"""Looks for inputs that miss a line of a footprint: `python -m tests.differential.footprints.seeking`.

Prints the table of `caught.py`; lines that no input misses are told, and either need an input or are not needed.
"""

from __future__ import annotations

from collections import defaultdict

from kubeproof.errors import KubeproofError
from kubeproof.manifests.loaded import Loaded
from tests.differential.footprints.applied import applied, contradiction, plan_for
from tests.differential.footprints.catalogue import input_called, names
from tests.differential.footprints.caught import CAUGHT
from tests.differential.footprints.lines import Forgotten, Line, all_lines


def speakers(loaded: Loaded) -> set[str]:
    """The classes whose footprints an input asks for."""
    plan = plan_for(loaded)
    facts = (monitor.fact for monitor in plan.monitors if monitor.fact is not None)
    return {type(one).__name__ for one in (*plan.actors, *plan.declared, *facts)}


class Search:
    """All inputs, and what applies to them."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[object, ...]] = {}
        self._by_class: dict[str, list[str]] = defaultdict(list)
        for name in names():
            try:
                self._known[name] = applied(input_called(name))
            except KubeproofError:
                continue
            for owner in speakers(input_called(name)):
                self._by_class[owner].append(name)

    def find(self, line: Line) -> str | None:
        """The first input that misses a line; the one that is known comes first."""
        before = [CAUGHT[str(line)]] if str(line) in CAUGHT else []
        tried = [*before, *self._by_class[line.owner]]
        with Forgotten(line):
            cheap = (name for name in tried if applied(input_called(name)) != self._known[name])
            return next(cheap, None) or next((name for name in tried if contradiction(input_called(name))), None)


def main() -> None:
    """Prints the table."""
    search = Search()
    for line in all_lines():
        found = search.find(line)
        print(f'    "{line}": "{found}",' if found else f"open {line}", flush=True)


if __name__ == "__main__":
    main()
