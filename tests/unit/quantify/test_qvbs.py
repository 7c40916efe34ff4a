"""The Quantitative Verification Benchmark Set through the whole path: program, properties, constants, value.

Its files are read where KUBEPROOF_DATA says, and are not part of the checkout.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from kubeproof.quantify.result import ModelResult
from kubeproof.quantify.run import PrismOptions, check_prism
from tests.unit.quantify.programs import DATA, needs_storm

QVBS = DATA / "qvbs"
SMALL, LARGE = 3_000, 200_000  # states: in every run, and marked slow
pytestmark = [
    needs_storm,
    pytest.mark.skipif(not QVBS.exists(), reason="the benchmark set is not here: KUBEPROOF_DATA"),
]


class Instance(NamedTuple):
    """One program with its constants, its published size and values."""

    program: str
    properties: str
    constants: str
    states: int
    values: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return f"{self.program.partition('__')[2]} {self.constants}".strip()


def instances(least: int, most: int) -> list[Instance]:
    if not QVBS.exists():
        return []
    found: dict[tuple[str, str, str, int], list[tuple[str, str]]] = {}
    with open(QVBS / "reference.csv", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            key = (row["file"], row["properties_file"], row["constants"], int(row["states"]))
            found.setdefault(key, []).append((row["property"], row["value"]))
    return [Instance(*key, tuple(values)) for key, values in found.items() if least <= key[3] < most]


def checked(instance: Instance, *only: str, whole: bool = False) -> ModelResult:
    constants = dict(part.split("=") for part in instance.constants.split(";") if part)
    names = only or tuple(name for name, _ in instance.values)
    options = PrismOptions(str(QVBS / instance.properties), names=names, constants=constants, whole=whole)
    return check_prism(str(QVBS / instance.program), options).models[0]


def sizes(instance: Instance, found: int) -> Iterator[int]:
    """The size found; then of the whole model, and of what lies before the goal of each property.

    Published sizes are of any of these kinds, depending on the tool and the property with which they were obtained.
    """
    yield found
    yield checked(instance, whole=True).states
    for name, _ in instance.values:
        yield checked(instance, name).states


def agrees(instance: Instance) -> None:
    result = checked(instance)
    found = {one.name: one.answer for one in result.results}

    assert instance.states in sizes(instance, result.states)
    for name, value in instance.values:
        if value in ("true", "false"):
            assert found[name].holds is (value == "true"), name
        else:
            assert float(found[name].value) == pytest.approx(float(value), rel=1e-3, abs=1e-9), name
            assert found[name].is_converged


@pytest.mark.parametrize("instance", instances(0, SMALL), ids=str)
def test_small_instances_have_their_published_sizes_and_values(instance: Instance) -> None:
    agrees(instance)


@pytest.mark.slow
@pytest.mark.parametrize("instance", instances(SMALL, LARGE), ids=str)
def test_large_instances_have_their_published_sizes_and_values(instance: Instance) -> None:
    agrees(instance)
