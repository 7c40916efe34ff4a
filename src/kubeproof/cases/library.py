"""The shipped cases: what there is, and where the manifests of each variant stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from kubeproof.errors import InternalError, UsageError
from kubeproof.manifests.config import read_config
from kubeproof.values import dataclass

VIOLATING, SAFE = "violating", "safe"
MAIN = (VIOLATING, SAFE)  # every case has these; further variants are extra
_HOME = Path(__file__).parent
_ABOUT = "case.yaml"


@dataclass(frozen=True, slots=True)
class Variant:
    """One configuration of a case."""

    name: str  # violating, safe, or a further one such as safe-readiness
    expected: str  # a verdict word
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


def list_cases() -> tuple[Case, ...]:
    """All shipped cases, in the order of their numbers."""
    return tuple(_case(path) for path in _folders())


def find_case(name: str) -> Case:
    """The case of this name, in any case of letters; an unknown one is wrong usage."""
    folders = _folders()
    for folder in folders:
        if folder.name == name.lower():
            return _case(folder)
    raise UsageError(f"there is no case {name!r}", f"There are: {', '.join(folder.name for folder in folders)}.")


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
    folder = _HOME / case.name / find_variant(case, variant).name
    paths = tuple(str(path) for path in sorted(folder.glob("*.yaml")))
    if not paths:
        raise InternalError(f"E700 case {case.name} {variant} has no manifests. Reinstall kubeproof.")
    return paths


def text_of(name: str, variant: str = VIOLATING) -> str:
    """The manifests of a variant as one YAML stream, each file under its name."""
    parts = [f"# {Path(path).name}\n{Path(path).read_text(encoding='utf-8')}" for path in load_case(name, variant)]
    return "---\n".join(parts)


def _folders() -> list[Path]:
    """Where the cases stand, in the order of their numbers."""
    folders = [path for path in _HOME.iterdir() if (path / _ABOUT).is_file()]
    return sorted(folders, key=lambda path: (len(path.name), path.name))


def _case(folder: Path) -> Case:
    values: dict[str, Any] = read_config(folder / _ABOUT)
    return Case(
        name=folder.name,
        title=values["title"],
        source=values["source"],
        controllers=tuple(values["controllers"]),
        property=values["property"],
        nodes=values["scale"]["nodes"],
        pods=values["scale"]["pods"],
        explain=values["explain"],
        variants=tuple(Variant(name, one["expected"], one["about"]) for name, one in values["variants"].items()),
    )
