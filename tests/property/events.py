"""Random events of a cluster."""

from __future__ import annotations

from hypothesis import strategies as st

from kubeproof.cluster.labels import (
    LabelSelector,
    Requirement,
)
from kubeproof.cluster.objects import (
    ZONE,
    Workload,
)
from kubeproof.events.declarations import STABLE, Cordon, NodeChoice, NodeFailure, Scale
from tests.property.strategies import POOL, choice

NODE_CHOICES = choice(
    NodeChoice(),
    NodeChoice(),
    NodeChoice(names=("n1",)),
    NodeChoice(selector=LabelSelector((Requirement(ZONE, "In", ("a",)),))),
    NodeChoice(selector=LabelSelector((Requirement(POOL, "DoesNotExist"),))),
    NodeChoice(names=("n9",)),
)
MOMENTS = choice(None, None, STABLE)


@st.composite
def failures(draw: st.DrawFn, name: str = "failure", *, most: int = 2) -> NodeFailure:
    """A node failure of any form."""
    return NodeFailure(
        name=name,
        max=draw(st.integers(1, most)),
        after=draw(choice(None, STABLE, STABLE)),
        nodes=draw(NODE_CHOICES),
        recovers=draw(choice(False, True)),
        together=draw(choice(False, False, True)),
    )


@st.composite
def cordons(draw: st.DrawFn, name: str = "cordon", *, most: int = 2) -> Cordon:
    """A cordon, reversible or not."""
    return Cordon(
        name=name,
        max=draw(st.integers(1, most)),
        after=draw(MOMENTS),
        nodes=draw(NODE_CHOICES),
        reversible=draw(st.booleans()),
    )


@st.composite
def scalings(draw: st.DrawFn, target: Workload, name: str = "scale", *, most: int = 3) -> Scale:
    """A scaling to one or two other sizes."""
    sizes = tuple(draw(st.lists(st.integers(0, most), min_size=1, max_size=2, unique=True)))
    return Scale(
        name=name,
        max=draw(choice(len(sizes), len(sizes), 1)),
        after=draw(MOMENTS),
        target=target.ref,
        replicas=sizes,
    )
