"""Random small clusters whose nodes are deleted, drained before or not."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.events.declarations import NodeRemoval
from tests.property.families import BASIC_FAMILIES
from tests.property.jobs import job_cases
from tests.property.loops import LOOP_FAMILIES, MOMENTS, drained_nodes
from tests.property.owners import OWNER_FAMILIES
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.strategies import Case, choice

BASES = (
    *(BASIC_FAMILIES["spread"], BASIC_FAMILIES["failure"], LOOP_FAMILIES["drain"]),
    *(OWNER_FAMILIES["stateful"], OWNER_FAMILIES["daemon"], PRIORITY_FAMILIES["preempt"], job_cases),
)


@st.composite
def removal_cases(draw: st.DrawFn) -> Case:
    """A node goes for good, instead of what else would happen or beside one of it."""
    case = draw(st.one_of(*(family() for family in BASES)))
    removal = NodeRemoval(
        name="removal",
        nodes=draw(drained_nodes()),
        drain_first=draw(st.booleans()),
        max=draw(choice(1, 1, 2)) if len(case.setup.nodes) > 1 else 1,
        after=draw(MOMENTS),
    )
    other = tuple(event for event in case.events[:1] if event.after in (None, "stable"))
    return replace(case, events=(*other, removal) if draw(choice(False, False, True)) else (removal,))
