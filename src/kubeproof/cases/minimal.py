"""The smallest cluster in which a case fails."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from kubeproof.cases.library import VIOLATING, Case, growth_of, load_case
from kubeproof.errors import InternalError, KubeproofError
from kubeproof.manifests.load import load
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.resize import Growth, Linear, Size, resized, sizes
from kubeproof.verify.result import VIOLATED, VerifyResult
from kubeproof.verify.run import verify

_LINEAR = re.compile(r"(P)?([+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Minimal:
    """The smallest violating size found, after how many tries; None if none is within bounds."""

    case: str
    size: Size | None
    tried: int
    result: VerifyResult | None = None


def find_minimal(case: Case, variant: str = VIOLATING, options: VerifyOptions = VerifyOptions()) -> Minimal:
    """Verifies a case from the smallest size upwards, until it fails."""
    growth = read_growth(growth_of(case.name), case.name)
    loaded = load(load_case(case.name, variant))
    tried = 0
    for size in sizes(growth):
        tried += 1
        try:
            result = verify(resized(loaded, growth, size), options)
        except KubeproofError as problem:
            if problem.exit_code != 2:  # a size that has no deployed start is passed over
                raise
            continue
        if result.verdict == VIOLATED:
            return Minimal(case.name, size, tried, result)
    return Minimal(case.name, None, tried)


def read_growth(values: dict[str, Any], case: str) -> Growth:
    """The growth as case.yaml writes it: numbers follow the pods as "P", "P-1", "2"."""
    if not values:
        raise InternalError(f"E700 case {case} says nothing about sizes")
    optional = {key: _linear(values[key]) for key in ("hpa_min", "hpa_max", "count", "applied") if key in values}
    return Growth(
        nodes=tuple((str(name), int(most)) for name, most in values["nodes"].items()),
        target=str(values["target"]),
        most_pods=int(values["pods"]),
        least_pods=int(values.get("least_pods", 1)),
        replicas=_linear(values.get("replicas", "P")),
        **optional,
    )


def _linear(text: object) -> Linear:
    found = _LINEAR.fullmatch(str(text))
    if found is None or not str(text):
        raise InternalError(f"E700 {text!r} does not say how a number follows the pods")
    return Linear(1 if found[1] else 0, int(found[2] or 0))
