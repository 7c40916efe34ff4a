"""Random small clusters whose objects a GitOps reconciler puts back to their manifests."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from tests.property.families import BASIC_FAMILIES
from tests.property.loops import autoscale_cases, rollout_cases
from tests.property.owners import OWNER_FAMILIES
from tests.property.strategies import Case, choice


@st.composite
def gitops_cases(draw: st.DrawFn) -> Case:
    """Everybody who writes workloads, with a reconciler that undoes it."""
    others = [BASIC_FAMILIES["write"](), BASIC_FAMILIES["scale"](), rollout_cases(), OWNER_FAMILIES["stateful"]()]
    case = draw(st.one_of(autoscale_cases(), autoscale_cases(), *others, OWNER_FAMILIES["daemon"]()))
    settings = replace(case.setup.settings, gitops_interval_s=draw(choice(20, 60, 90)))
    return replace(case, setup=replace(case.setup, settings=settings))
