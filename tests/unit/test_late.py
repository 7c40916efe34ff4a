"""Classes and functions that are imported when they are first called."""

from __future__ import annotations

import gc
import importlib
import sys
from decimal import Decimal
from fractions import Fraction

import pytest

import kubeproof.controllers.late
import kubeproof.manifests.late
from kubeproof.events import declarations
from kubeproof.events.event import Event
from kubeproof.late import LateClass, LateFunction, resolve

REGISTRIES = (kubeproof.controllers.late, kubeproof.manifests.late)
ENTRIES = [(registry, name) for registry in REGISTRIES for name in registry.__all__]


def test_asking_for_an_instance_imports_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "colorsys", raising=False)

    assert not isinstance(1, LateClass("colorsys", "rgb_to_hls"))
    assert "colorsys" not in sys.modules


def test_instances_are_known_however_they_were_made() -> None:
    late = LateClass("fractions", "Fraction")

    assert [isinstance(one, late) for one in (Fraction(1, 2), late(1, 2), Decimal(1), 1)] == [True, True, False, False]


def test_a_module_that_is_being_imported_has_no_instances_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "half_imported", type(sys)("half_imported"))

    assert not isinstance(1, LateClass("half_imported", "Late"))


def test_calling_passes_everything_on() -> None:
    assert LateClass("fractions", "Fraction")(numerator=3, denominator=6) == Fraction(1, 2)


def test_a_late_class_serves_within_a_tuple_and_says_what_it_is() -> None:
    late = LateClass("fractions", "Fraction")

    assert isinstance(Fraction(1), (str, late))
    assert repr(late) == "<late fractions.Fraction>"


def test_late_classes_are_asked_for_together_like_classes() -> None:
    late, other = LateClass("fractions", "Fraction"), LateClass("decimal", "Decimal")

    for either in (late | other, late | other | str, str | late | other, late | (other | str)):
        assert isinstance(Fraction(1), either)
        assert isinstance(Decimal(1), either)
        assert not isinstance(1, either)


@pytest.mark.parametrize(("registry", "name"), ENTRIES, ids=[name for _, name in ENTRIES])
def test_every_name_of_a_registry_leads_to_what_bears_it_in_its_room(registry, name) -> None:
    found = getattr(registry, name).resolve()

    room = registry.__name__.removesuffix(".late")
    assert (found.__name__, found.__module__.startswith(f"{room}.")) == (name, True)
    assert getattr(importlib.import_module(found.__module__), name) is found


@pytest.mark.parametrize("registry", REGISTRIES, ids=lambda registry: registry.__name__)
def test_a_registry_lists_all_that_it_has(registry) -> None:
    assert sorted(name for name, value in vars(registry).items() if isinstance(value, LateFunction)) == registry.__all__


def test_the_list_of_events_has_all_that_are_declared() -> None:
    named = {name: value for name, value in vars(declarations).items() if isinstance(value, LateClass)}
    kinds = declarations.kinds()

    assert {value.resolve() for value in named.values()} == set(kinds)
    assert {name: value.resolve().__name__ for name, value in named.items()} == {name: name for name in named}
    gc.collect()  # a dataclass with slots is made from another class of its name, which is garbage by now
    assert {kind for kind in Event.__subclasses__() if kind.__module__.startswith("kubeproof.")} == set(kinds)


def test_a_class_is_itself_late_or_not() -> None:
    assert (resolve(Fraction), resolve(LateClass("fractions", "Fraction"))) == (Fraction, Fraction)
