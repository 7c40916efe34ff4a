"""Charts whose dependencies nobody has fetched: helm refuses them, and their own templates are worth reading."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator

from kubeproof.manifests.yaml.guard import Bounds

CHART = "Chart.yaml"
REQUIREMENTS = "requirements.yaml"
_FILES = (REQUIREMENTS, "requirements.lock", "Chart.lock", "values.schema.json")  # what asks for more
_DEPENDENCIES = re.compile(r"(?m)^dependencies:[^\n]*\n(?:(?:[ \t-][^\n]*|#[^\n]*)?\n)*")
_BESIDE = re.compile(r"(?m)^[ \t-]*repository:\s*[\"']?file://([^\s\"']+)")
_NAMED = re.compile(r"(?m)^[ \t-]*name:\s*[\"']?([\w.-]+)")
_LIBRARY = re.compile(rb"(?m)^type:\s*[\"']?library\b")


def is_library(chart: bytes) -> bool:
    """True for a chart that is made for others to use, and gives no manifests by itself."""
    return _LIBRARY.search(chart) is not None


def copy_without_dependencies(directory: str, folder: str, bounds: Bounds) -> str | None:
    """A copy of a chart in a folder that asks for nothing it lacks; None if there is nothing to leave out.

    Dependencies that lie beside it (`repository: file://../common`, or a library chart of that name in the folder of
    the chart, as in repositories of charts) are put where helm looks for them.
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
        for place in _find_beside(directory, text):
            _copy_beside(place, os.path.join(copy, "charts"), bounds)
    except (OSError, UnicodeDecodeError, shutil.Error):
        return None
    return copy


def _find_beside(directory: str, text: str) -> Iterator[str]:
    """The directories of dependencies that nobody has to fetch."""
    asked = "".join(_DEPENDENCIES.findall(text if text.endswith("\n") else f"{text}\n"))
    older = os.path.join(directory, REQUIREMENTS)  # of charts with apiVersion v1
    if os.path.isfile(older):
        with open(older, encoding="utf-8") as file:
            asked += file.read()
    for place in _BESIDE.findall(asked):
        yield os.path.normpath(os.path.join(directory, place))
    near = os.path.dirname(os.path.abspath(directory))
    for name in _NAMED.findall(asked):
        chart = os.path.join(near, os.path.basename(name), CHART)
        if os.path.isfile(chart):
            with open(chart, "rb") as found:
                if is_library(found.read()):
                    yield os.path.dirname(chart)


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
