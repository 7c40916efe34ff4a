"""Charts and kustomizations, rendered by the user's own helm, kustomize or kubectl.

The programs are started without a shell, in a session of their own, with nothing on stdin, for a limited time, and no
more of their output is kept than a file of manifests may hold.
"""

from __future__ import annotations

import os
import re
import selectors
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import IO

from kubeproof.cluster.api.versions import NEWEST, in_words
from kubeproof.errors import HostileInputError, ManifestError, RecipeError
from kubeproof.manifests.yaml.guard import Bounds
from kubeproof.manifests.yaml.printable import printable
from kubeproof.values import dataclass

CHART = "Chart.yaml"
_KUSTOMIZE = "kustomize or kubectl"
_DEPENDENCIES = "helm dependency build"
_BARE = "the chart is verified without dependencies that are not there, and without a schema of its values"
_INSTALLED_FROM = {
    "helm": "https://helm.sh/docs/intro/install",
    _KUSTOMIZE: "https://kubectl.docs.kubernetes.io/installation",
}
TIMEOUT_S = 60.0
_MOST_COMPLAINTS = 65_536  # bytes of stderr that are kept
_SHOWN_BEGINNING, _SHOWN_END = 200, 120  # characters of it: what was asked for, and what went wrong last
_WARNINGS = re.compile(r"(?m)^(?:# Warning:|W\d{4} ).*$")  # of things that still work
_LOG_HEAD = re.compile(
    r"(?m)^E\d{4} [\d:.]+ +\d+ [\w.-]+:\d+\] (?:\"command failed\" err=)?"
)  # another one in every run
_FETCHING = re.compile(r"dial tcp|no such host|git fetch|Could not resolve host")
_PART = 65_536
_NOT_A_NAME = re.compile(r"[^a-z0-9-]+")

Find = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class _Ended:
    """How a program ended."""

    output: bytes
    complaint: str
    code: int


def render_recipe(
    recipe: str,
    bounds: Bounds,
    *,
    values: Sequence[str] = (),
    timeout_s: float = TIMEOUT_S,
    find: Find = shutil.which,
) -> bytes:
    """The manifests that a Chart.yaml or a kustomization stands for; `values` are files of values for charts.

    A missing program or one that does not end is a problem of the environment, a recipe it refuses one of the input.
    """
    words = _command(recipe, values, find)
    ended = _run(words, recipe, bounds.file_bytes, timeout_s)
    if not ended.code:
        return ended.output
    shown = printable(os.path.dirname(recipe) or ".")
    problem = ManifestError(
        f"{_join_words(words)} failed with exit code {ended.code}: {ended.complaint or 'it says nothing'}",
        file=printable(recipe),
        line=0,
        remedy=_remedy(recipe, shown, ended.complaint),
    )
    rest = _without_dependencies(words, recipe, bounds, timeout_s) if os.path.basename(recipe) == CHART else None
    if rest is not None:
        problem.rest = rest
        problem.remedy = f"Run: {_DEPENDENCIES} {shown}. Until then {_BARE}"
    raise problem


def _remedy(recipe: str, shown: str, complaint: str) -> str:
    if os.path.basename(recipe) == CHART or _FETCHING.search(complaint) is None:
        return "Make the command work by itself first"
    return (
        f"Parts of it are elsewhere: render it where they can be fetched, kustomize build {shown} | kubeproof verify -"
    )


def _without_dependencies(words: list[str], recipe: str, bounds: Bounds, timeout_s: float) -> bytes | None:
    """What a chart gives whose dependencies have not been fetched: a copy that does not ask for them is rendered."""
    from kubeproof.manifests.folders.bare_charts import copy_without_dependencies

    with tempfile.TemporaryDirectory(prefix="kubeproof-") as folder:
        copy = copy_without_dependencies(os.path.dirname(recipe), folder, bounds)
        if copy is None:
            return None
        original = os.path.abspath(os.path.dirname(recipe))
        ended = _run([copy if word == original else word for word in words], recipe, bounds.file_bytes, timeout_s)
        return None if ended.code else ended.output


def _command(recipe: str, values: Sequence[str], find: Find) -> list[str]:
    """The program with its arguments; the directory is absolute, so that its name is never taken for an option."""
    directory = os.path.abspath(os.path.dirname(recipe))
    if os.path.basename(recipe) == CHART:
        more = [word for file in values for word in ("--values", os.path.abspath(file))]
        version = ["--kube-version", f"{in_words(NEWEST)}.0"]  # helm's own idea of it refuses charts that want more
        served = ["--api-versions", "apiregistration.k8s.io/v1"]  # by every cluster; helm does not know it by itself
        return [
            _find_program("helm", recipe, find),
            "template",
            _release(directory),
            directory,
            "--skip-tests",
            *version,
            *served,
            *more,
        ]
    if program := find("kustomize"):
        return [program, "build", directory]
    if program := find("kubectl"):
        return [program, "kustomize", directory]
    raise _missing(_KUSTOMIZE, f"kustomize build {printable(os.path.dirname(recipe) or '.')}", recipe)


def _find_program(name: str, recipe: str, find: Find) -> str:
    program = find(name)
    if program is None:
        raise _missing(name, f"{name} template {printable(os.path.dirname(recipe) or '.')}", recipe)
    return program


def _missing(program: str, by_hand: str, recipe: str) -> RecipeError:
    return RecipeError(
        f"{program} is needed to render it and is not on the PATH",
        file=printable(recipe),
        remedy=f"Install it ({_INSTALLED_FROM[program]}), or render elsewhere: {by_hand} | kubeproof verify -",
    )


def _release(directory: str) -> str:
    """A release name that helm takes: the directory's."""
    name = _NOT_A_NAME.sub("-", os.path.basename(directory).lower()).strip("-")[:40].strip("-")
    return name or "release"


def _run(words: list[str], recipe: str, most: int, timeout_s: float) -> _Ended:
    try:
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as problem:
        raise RecipeError(
            f"{printable(words[0])} cannot be started: {problem.strerror}",
            file=printable(recipe),
            remedy="Render it elsewhere",
        ) from None
    end = time.monotonic() + timeout_s
    try:
        output, complaint = _receive(process, most, end)
        code = process.wait(max(0.0, end - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise RecipeError(
            f"{_join_words(words)} did not end within {timeout_s:g} s",
            file=printable(recipe),
            remedy="Render it elsewhere",
        ) from None
    finally:
        _end(process)
    if len(output) > most:
        raise HostileInputError(
            f"{_join_words(words)} writes more than {most:,} bytes",
            file=printable(recipe),
            line=0,
            remedy="Render a part of it",
        )
    return _Ended(output, _shorten_complaint(complaint), code)


def _receive(process: subprocess.Popen[bytes], most: int, end: float) -> tuple[bytes, bytes]:
    """What it writes to stdout, ending early beyond `most`, and the beginning of what it writes to stderr."""
    assert process.stdout is not None
    assert process.stderr is not None
    kept: dict[IO[bytes], bytearray] = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for stream in kept:
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            left = end - time.monotonic()
            ready = selector.select(left) if left > 0 else []
            if not ready:
                raise subprocess.TimeoutExpired(process.args, 0)
            for key, _ in ready:
                stream = next(one for one in kept if one is key.fileobj)
                part = os.read(key.fd, _PART)
                if not part:
                    selector.unregister(stream)
                elif stream is process.stdout or len(kept[stream]) < _MOST_COMPLAINTS:
                    kept[stream] += part
            if len(kept[process.stdout]) > most:
                process.kill()
                break
    return bytes(kept[process.stdout]), bytes(kept[process.stderr])


def _end(process: subprocess.Popen[bytes]) -> None:
    """Ends the program with all it started, and waits for it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _join_words(words: Sequence[str]) -> str:
    return f"{os.path.basename(words[0])} {words[1]}"


def _shorten_complaint(complaint: bytes) -> str:
    """What it said, as one line: without warnings and heads of a log, and without its middle if it is long."""
    said = complaint.decode("utf-8", "replace")
    text = " ".join(_LOG_HEAD.sub("", _WARNINGS.sub("", said)).split()) or " ".join(said.split())
    beginning, end = text[:_SHOWN_BEGINNING], text[_SHOWN_BEGINNING:]
    cut = " … " if len(end) > _SHOWN_END else ""
    return f"{printable(beginning)}{cut}{printable(end[-_SHOWN_END:])}"
