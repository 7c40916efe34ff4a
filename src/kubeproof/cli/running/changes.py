"""Writes changed files back, all of them or none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kubeproof.cli.options.outputs import write_file
from kubeproof.cli.running.endings import say
from kubeproof.errors import EnvironmentProblem, UsageError

if TYPE_CHECKING:
    from kubeproof.verify.fix.result import FileChange


def write_changes(files: Sequence[FileChange], patch_only: Sequence[tuple[str, str]]) -> None:
    """Changes the files, unless one cannot be changed in place, or somebody else has changed it in the meantime."""
    for file, why in patch_only:
        raise UsageError(f"{file} cannot be changed in place: {why}", "Use the patch for kustomize instead.")
    for changed in files:
        with open(changed.file, encoding="utf-8", newline="") as there:
            if there.read() != changed.before:
                raise EnvironmentProblem(f"E401 {changed.file} has been changed meanwhile. Nothing was written.")
    for changed in files:
        write_file(changed.file, changed.after)
        say(f"changed {changed.file}")
