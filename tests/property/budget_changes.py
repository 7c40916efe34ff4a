"""Random small clusters whose budgets come, go or change while nodes are drained and pods preempted."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from kubeproof.events.budget_change import name_of
from kubeproof.events.declarations import APPLIED, CREATED, DELETED, BudgetChange
from tests.property.loops import LOOP_FAMILIES, MOMENTS, budgets
from tests.property.priorities import PRIORITY_FAMILIES
from tests.property.strategies import Case, choice


@st.composite
def budget_cases(draw: st.DrawFn) -> Case:
    """Drains and preemptions, and a budget that is another one in the course of the run."""
    case = draw(st.one_of(LOOP_FAMILIES["drain"](), LOOP_FAMILIES["drain"](), PRIORITY_FAMILIES["preempt"]()))
    declared = case.setup.budgets[:1] or (draw(budgets("web")),)
    verb = draw(choice(CREATED, DELETED, APPLIED))
    content = replace(draw(budgets("web")), name=declared[0].name) if verb == APPLIED else None
    change = BudgetChange(name="change", budget=name_of(declared[0]), verb=verb, content=content, after=draw(MOMENTS))
    known = () if verb == APPLIED and draw(choice(False, True)) else declared
    return replace(case, setup=replace(case.setup, budgets=known), events=(*case.events[:1], change))
