"""The shipped cases: what there is, and where the manifests of each variant stand."""

from __future__ import annotations

import json
import os
from typing import Any

from kubeproof.errors import InternalError, UsageError
from kubeproof.manifests.settings.config import read_config
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict

VIOLATING, SAFE = "violating", "safe"
MAIN = (VIOLATING, SAFE)  # every case has these; further variants are extra
_HOME = os.path.dirname(__file__)
_ABOUT = "case.yaml"


@dataclass(frozen=True, slots=True)
class Variant:
    """One configuration of a case."""

    name: str  # violating, safe, or a further one such as safe-readiness
    expected: Verdict
    about: str  # what makes this variant differ

    @property
    def is_extra(self) -> bool:
        return self.name not in MAIN


@dataclass(frozen=True, slots=True)
class Case:
    """A realistic failure, and at least one real repair of it."""

    name: str  # c1
    title: str
    source: str
    controllers: tuple[str, ...]
    property: str
    nodes: int  # size of the cluster
    pods: int
    explain: str
    variants: tuple[Variant, ...]


@dataclass(frozen=True, slots=True)
class Golden:
    """The numbers of a case that do not change unless what is modelled does."""

    smallest: tuple[int, int]  # the smallest cluster in which it fails: nodes, and pods at the start
    states: dict[str, int]  # of the verification of each variant


def list_cases() -> tuple[Case, ...]:
    """All shipped cases, in the order of their numbers."""
    return tuple(_case(name) for name in list_names())


def find_case(name: str) -> Case:
    """The case of this name, in any case of letters; an unknown one is wrong usage."""
    folders = list_names()
    if name.lower() in folders:
        return _case(name.lower())
    raise UsageError(f"there is no case {name!r}", f"There are: {', '.join(folders)}.")


def find_variant(case: Case, name: str) -> Variant:
    """The variant of this name; an unknown one is wrong usage."""
    for variant in case.variants:
        if variant.name == name:
            return variant
    known = ", ".join(variant.name for variant in case.variants)
    raise UsageError(f"case {case.name} has no variant {name!r}", f"There are: {known}.")


def load_case(name: str, variant: str = VIOLATING) -> tuple[str, ...]:
    """The paths of a variant's manifests, Scenario included, sorted: what `manifests.load.load` takes."""
    case = find_case(name)
    return list_manifests(case, find_variant(case, variant))


def list_manifests(case: Case, variant: Variant) -> tuple[str, ...]:
    """The same of a case that is known already."""
    folder = os.path.join(_HOME, case.name, variant.name)
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else ()
    paths = tuple(os.path.join(folder, name) for name in names if name.endswith(".yaml"))
    if not paths:
        raise InternalError(f"E700 case {case.name} {variant.name} has no manifests. Reinstall kubeproof.")
    return paths


def read_golden(name: str) -> Golden:
    """The numbers that stand beside a case; `kubeproof cases esc` works out the smallest cluster."""
    with open(os.path.join(_HOME, name, "golden.json"), encoding="utf-8") as file:
        values = json.load(file)
    return Golden((values["smallest"]["nodes"], values["smallest"]["pods"]), values["states"])


def text_of(name: str, variant: str = VIOLATING) -> str:
    """The manifests of a variant as one YAML stream, each file under its name."""
    return "---\n".join(f"# {os.path.basename(path)}\n{_text(path)}" for path in load_case(name, variant))


def _text(path: str) -> str:
    with open(path, encoding="utf-8") as file:
        return file.read()


def list_names() -> list[str]:
    """The names of the cases, in the order of their numbers."""
    names = [name for name in os.listdir(_HOME) if os.path.isfile(os.path.join(_HOME, name, _ABOUT))]
    return sorted(names, key=lambda name: (len(name), name))


def _case(name: str) -> Case:
    values: dict[str, Any] = read_config(os.path.join(_HOME, name, _ABOUT))
    return Case(
        name=name,
        title=values["title"],
        source=values["source"],
        controllers=tuple(values["controllers"]),
        property=values["property"],
        nodes=values["scale"]["nodes"],
        pods=values["scale"]["pods"],
        explain=values["explain"],
        variants=tuple(
            Variant(name, Verdict(one["expected"]), one["about"]) for name, one in values["variants"].items()
        ),
    )
