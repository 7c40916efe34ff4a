"""The empirically sufficient scale of a library of cases: the shipped ones, or a directory of a user's own."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence

from kubeproof.cases.library import VIOLATING, list_cases, list_names, load_case, read_golden
from kubeproof.cases.minimal import Minimal, minimal_of
from kubeproof.errors import NothingToCheckError, UsageError
from kubeproof.manifests.load import load
from kubeproof.stop import Stop
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.executors.session import Executor
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.scaling.esc import Esc, Minimum, esc_of
from kubeproof.verify.scaling.plan import can_grow

_SUFFIXES = (".yaml", ".yml")


def read_shipped_esc() -> Esc:
    """The scale of the shipped cases, from the sizes that were worked out when they were written."""
    return esc_of([Minimum(case, *read_golden(case).smallest) for case in list_names()])


def find_minima(
    directory: str | None = None,
    options: VerifyOptions = VerifyOptions(),
    executor: Executor = InProcess(),
    told: Callable[[Minimal], None] = lambda _: None,
    stop: Stop | None = None,
) -> list[Minimal]:
    """The smallest failing size of every case, of the shipped ones or of those in a directory.

    Asked to stop, or interrupted, of those that are done.
    """
    found: list[Minimal] = []
    stop = stop or Stop()
    for name, paths in _read_shipped() if directory is None else _own(directory):
        loaded = load(paths)
        if not can_grow(loaded):
            problem = f"case {name} ({', '.join(paths)}) has no Scenario with spec.scale"
            raise UsageError(problem, "Say there which nodes and workloads grow.")
        minimal = minimal_of(name, loaded, options, executor, stop)
        if stop.is_asked:
            return found
        found.append(minimal)
        told(minimal)
    return found


def esc_from(minima: Sequence[Minimal]) -> Esc:
    """The scale that rests on the cases which fail; the others say nothing."""
    basis = [Minimum(one.case, one.size.node_total, one.size.pod_total) for one in minima if one.size is not None]
    if not basis:
        raise NothingToCheckError("E301 no case fails within its ranges, so there is no ESC. Add a case that fails.")
    return esc_of(basis)


def _read_shipped() -> Iterator[tuple[str, tuple[str, ...]]]:
    return ((case.name, load_case(case.name, VIOLATING)) for case in list_cases())


def _own(directory: str) -> list[tuple[str, tuple[str, ...]]]:
    """Every folder of the directory is a case, and so is every YAML file that lies in it directly."""
    try:
        entries = sorted(os.scandir(directory), key=lambda entry: entry.name)
    except OSError as problem:
        raise UsageError(f"{directory}: {problem.strerror}", "Name a directory of cases.") from None
    chosen = [entry for entry in entries if entry.is_dir() or entry.name.endswith(_SUFFIXES)]
    if not chosen:
        raise UsageError(f"{directory} holds no cases", "Put each into a folder or a YAML file of its own.")
    return [(entry.name, (entry.path,)) for entry in chosen]
