"""Who acts or judges is shown what it makes itself, and gets it back in the form it made it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args, get_type_hints

import pytest

import kubeproof.controllers
import kubeproof.events
import kubeproof.intents
import kubeproof.model.expansion
import kubeproof.model.reductions
from kubeproof.cluster.loops.control import AnySeen, Groups, View
from kubeproof.cluster.state import NodeCell
from kubeproof.controllers import gitops
from kubeproof.controllers.workloads import job
from kubeproof.engine.limits import Limits
from kubeproof.engine.search import explore, make_kernel
from kubeproof.events.declarations import NodeFailure, Scale
from kubeproof.intents.declarations import Amount, Intent
from kubeproof.model.by_name.node import NodeState
from kubeproof.model.by_name.state import node_cell
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import make_plan
from tests.unit.model.builders import WEB, node, setup, workload

ROOMS = (
    kubeproof.controllers,
    kubeproof.events,
    kubeproof.intents,
    kubeproof.model.expansion,
    kubeproof.model.reductions,
)


def classes(method: str) -> Iterator[type]:
    """The classes of all rooms that have the method and make views of workloads."""
    for room in ROOMS:
        for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}."):
            module = importlib.import_module(found.name)
            for one in vars(module).values():
                is_own = inspect.isclass(one) and one.__module__ == module.__name__
                if is_own and not getattr(one, "_is_protocol", False) and hasattr(one, "show_workload"):
                    yield from (one,) if hasattr(one, method) else ()


def shown(of: type, method: str) -> Any:
    """What a method of the class makes of what it is shown."""
    return hints(of, method)["return"]


def hints(of: type, method: str) -> dict[str, Any]:
    function = getattr(of, method)
    known = {**vars(job), "Written": gitops.Spec}
    for_types_alone = {name: value for name, value in known.items() if name not in function.__globals__}
    return get_type_hints(function, localns=for_types_alone)


def own(views: tuple[type, ...], kind: str) -> list[Any]:
    return [pytest.param(one, id=f"{kind} {one.__name__}") for one in views]


@pytest.mark.parametrize("loop", own(tuple(classes("act")), "loop"))
def test_a_loop_acts_on_the_views_that_it_makes(loop: type) -> None:
    seen = hints(loop, "act")["seen"]
    if seen == AnySeen:  # it hands on what another one sees
        return
    of_workload, of_place = get_args(seen)
    ((of_node, _),) = (get_args(pair) for pair in get_args(of_place)[:1])

    assert shown(loop, "show_workload") in (of_workload, View)
    assert shown(loop, "show_node") in (of_node, of_node | None, View)
    assert of_place == Groups[of_node]


@pytest.mark.parametrize("fact", own(tuple(classes("holds")), "fact"))
def test_a_fact_looks_at_the_views_that_it_makes(fact: type) -> None:
    of_workload, of_place = get_args(hints(fact, "holds")["seen"])

    assert shown(fact, "show_workload") == of_workload
    assert shown(fact, "show_nodes") == of_place


def form(value: object) -> object:
    """The classes of a value and of all that it holds."""
    return (type(value), *(form(part) for part in value)) if isinstance(value, tuple) else type(value)


def test_equal_views_have_equal_forms_so_that_the_engine_may_keep_one_of_them() -> None:
    scenario = (Scale(name="up", target=WEB, replicas=(2, 3)), NodeFailure(name="crash", max=1))
    intents = (
        Intent(key="minReady", name="m", target=WEB, count=Amount(1)),
        Intent(key="maxReplicas", name="few", target=WEB, count=Amount(9)),
    )
    plan = make_plan(setup([node("a"), node("b")], workload(2), workload(1, name="db")), scenario, intents)
    system = GroupedSystem(plan)
    kernel = make_kernel(system)
    explore(system, (), kernel=kernel, limits=Limits(max_states=500))

    forms: dict[object, object] = {}
    for state in range(0, len(kernel), 5):
        cells = kernel.cells_of(state)
        for reader in (*system.actors, system.observer):
            for position, slot in enumerate(reader.reads):
                view = reader.view(position, cells[slot])
                assert forms.setdefault(view, form(view)) == form(view)
    assert len(forms) > 50


def test_a_node_by_name_has_the_fields_of_a_node_by_numbers() -> None:
    assert NodeState._fields == NodeCell._fields


def test_a_node_by_name_is_shown_with_every_field() -> None:
    by_name = ("pods", "pinned", "nominated", "finished")
    fields = {name: 10 + at for at, name in enumerate(NodeState._fields) if name not in by_name}

    cell = node_cell(NodeState(**fields))

    assert cell == NodeCell(**fields)
