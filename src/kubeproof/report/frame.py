"""What a report has to know beside the result: where paths begin, how to replay."""

from __future__ import annotations

import os.path

from kubeproof.cluster.objects import Source
from kubeproof.manifests.folders.files import name_rendered
from kubeproof.values import dataclass
from kubeproof.verify.result import IntentResult

_RENDERED = name_rendered("").removesuffix(">")


@dataclass(frozen=True, slots=True)
class Frame:
    """Where a report is written."""

    base: str = ""  # absolute directory that paths are shown relative to; "": as they are
    replay_command: str = ""

    def path(self, file: str) -> str:
        """The file relative to the base with `/` between folders; as it is when it lies elsewhere."""
        path = os.path.normpath(file)
        if self.base and os.path.isabs(path):
            inside = os.path.relpath(path, self.base)
            path = path if inside.startswith("..") else inside
        return path.replace(os.sep, "/")


def is_file(source: Source) -> bool:
    """True if the source is a line of a file, and not standard input or built in."""
    return source.line > 0 and not source.file.startswith("<")


def place_of(result: IntentResult) -> Source | None:
    """Where to show a result: at its intent, for intents of the default scenario at an object involved."""
    candidates = (result.location, *(source for _, source in result.sources))
    return next((place for place in map(physical, candidates) if place is not None), None)


def physical(source: Source | None) -> Source | None:
    """A line that a viewer can open: of what was rendered the beginning of its recipe; None for what is in no file."""
    if source is None or is_file(source):
        return source
    recipe = source.file.removeprefix(_RENDERED).removesuffix(">")
    return Source(recipe, 1) if source.file == name_rendered(recipe) else None
