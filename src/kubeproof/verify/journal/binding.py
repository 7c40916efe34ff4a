"""What a checkpoint belongs to: the input, the version, the options and the tasks of its run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from kubeproof import __version__
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Binding:
    """Two runs with equal bindings give equal results."""

    input: str  # digest of all texts read, names and order included
    version: str
    options: tuple[tuple[str, str], ...]  # those that can change a result, by name
    tasks: str  # digest of the keys in order
    task_count: int

    @property
    def digest(self) -> str:
        """A short name for this binding that nothing else has."""
        return digest_of([json.dumps(asdict(self), sort_keys=True)])


def binding_of(texts: Iterable[tuple[str, str]], options: Mapping[str, object], keys: Iterable[str]) -> Binding:
    """The binding of a run of this version.

    `options` holds every option that can change a result, and none that cannot: limits of time and memory or the
    number of workers may differ when a run continues.
    """
    listed = tuple(keys)
    named = tuple(sorted((name, repr(value)) for name, value in options.items()))
    content = digest_of(part for text in texts for part in text)
    return Binding(content, __version__, named, digest_of(listed), len(listed))


def digest_of(parts: Iterable[str]) -> str:
    """A SHA-256 over texts that cannot be mistaken for other cuts of the same letters."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def read_binding(values: Mapping[str, Any]) -> Binding:
    """The binding from a journal's header; ValueError if it is none."""
    try:
        options = tuple((str(name), str(value)) for name, value in values["options"])
        content, version, tasks = (str(values[name]) for name in ("input", "version", "tasks"))
        return Binding(content, version, options, tasks, int(values["task_count"]))
    except (KeyError, TypeError) as problem:
        raise ValueError(f"no header: {problem}") from problem


def differences(there: Binding, here: Binding) -> list[str]:
    """What differs between the run of a checkpoint and this one, in words."""
    found = []
    if there.version != here.version:
        found.append(f"it was written by kubeproof {there.version}, this is {here.version}")
    if there.input != here.input:
        found.append("the input differs")
    before, now = dict(there.options), dict(here.options)
    for name in sorted(before.keys() | now.keys()):
        if before.get(name) != now.get(name):
            found.append(f"{name} was {before.get(name, 'absent')} and is {now.get(name, 'absent')}")
    if (there.tasks, there.task_count) != (here.tasks, here.task_count) and not found:
        found.append(f"its {there.task_count} tasks are not the {here.task_count} of this run")
    return found
