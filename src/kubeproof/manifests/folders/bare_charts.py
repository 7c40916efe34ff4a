"""Charts whose dependencies nobody has fetched: helm refuses them, and their own templates are worth reading."""

from __future__ import annotations

import os
import re
import shutil

from kubeproof.manifests.yaml.guard import Bounds

CHART = "Chart.yaml"
_FILES = ("requirements.yaml", "requirements.lock", "Chart.lock", "values.schema.json")  # what asks for more
_DEPENDENCIES = re.compile(r"(?m)^dependencies:[^\n]*\n(?:(?:[ \t-][^\n]*|#[^\n]*)?\n)*")
_BESIDE = re.compile(r"(?m)^[ \t-]*repository:\s*[\"']?file://([^\s\"']+)")
_LIBRARY = re.compile(rb"(?m)^type:\s*[\"']?library\b")


def is_library(chart: bytes) -> bool:
    """True for a chart that is made for others to use, and gives no manifests by itself."""
    return _LIBRARY.search(chart) is not None


def copy_without_dependencies(directory: str, folder: str, bounds: Bounds) -> str | None:
    """A copy of a chart in a folder that asks for nothing it lacks; None if there is nothing to leave out.

    Dependencies that lie beside it (`repository: file://../common`) are put where helm looks for them.
    """
    try:
        with open(os.path.join(directory, CHART), encoding="utf-8") as file:
            text = file.read()
        bare = _DEPENDENCIES.sub("", text if text.endswith("\n") else f"{text}\n")
        extra = [name for name in _FILES if os.path.exists(os.path.join(directory, name))]
        if (bare.rstrip() == text.rstrip() and not extra) or _size(directory, bounds) > bounds.file_bytes:
            return None
        copy = os.path.join(folder, "chart")
        shutil.copytree(directory, copy, symlinks=True, ignore=shutil.ignore_patterns(".git", *_FILES))
        with open(os.path.join(copy, CHART), "w", encoding="utf-8") as file:
            file.write(bare)
        for place in _BESIDE.findall(text):
            _copy_beside(os.path.normpath(os.path.join(directory, place)), os.path.join(copy, "charts"), bounds)
    except (OSError, UnicodeDecodeError, shutil.Error):
        return None
    return copy


def _copy_beside(chart: str, charts: str, bounds: Bounds) -> None:
    target = os.path.join(charts, os.path.basename(chart))
    is_chart = os.path.isfile(os.path.join(chart, CHART))
    if is_chart and not os.path.exists(target) and _size(chart, bounds) <= bounds.file_bytes:
        shutil.copytree(chart, target, symlinks=True, ignore=shutil.ignore_patterns(".git"))


def _size(directory: str, bounds: Bounds) -> int:
    """The bytes in a directory; counting ends when they are too many."""
    size = 0
    for folder, _, files in os.walk(directory):
        size += sum(os.lstat(os.path.join(folder, file)).st_size for file in files)
        if size > bounds.file_bytes:
            break
    return size
