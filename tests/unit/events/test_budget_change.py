"""Budgets that come, go or change: which there are when, and who asks them."""

import pytest

from kubeproof.cluster.labels import LabelSelector
from kubeproof.cluster.loops.actions import Remember
from kubeproof.cluster.loops.control import Decision, Reads, Role, Seen
from kubeproof.cluster.steering.policies import PodDisruptionBudget
from kubeproof.controllers.guard import Guarded, guard_loop, working
from kubeproof.controllers.late import DrainEviction
from kubeproof.errors import UsageError
from kubeproof.events.budget_change import BudgetEvent
from kubeproof.events.common import EventSource
from kubeproof.events.declarations import APPLIED, CREATED, DELETED, BudgetChange, Drain
from kubeproof.model.loops.assembly import build_controllers
from tests.unit.model.builders import layout, node, setup, workload

LOOSE = PodDisruptionBudget("shop", "web", LabelSelector(), max_unavailable=(1, False))
STRICT = PodDisruptionBudget("shop", "web", LabelSelector(), max_unavailable=(0, False))
OTHER = PodDisruptionBudget("shop", "api", LabelSelector())
LAYOUT = layout(setup([node("n1")], workload()))


def _change(verb, content=None, name="change"):
    return BudgetChange(name=name, budget="shop/web", verb=verb, content=content)


@pytest.mark.parametrize(
    ("change", "declared", "before", "after"),
    [
        (_change(CREATED), (OTHER, LOOSE), (OTHER,), (OTHER, LOOSE)),
        (_change(DELETED), (OTHER, LOOSE), (OTHER, LOOSE), (OTHER,)),
        (_change(APPLIED, STRICT), (LOOSE, OTHER), (LOOSE, OTHER), (STRICT, OTHER)),
        (_change(APPLIED, STRICT), (OTHER,), (OTHER,), (OTHER, STRICT)),
    ],
)
def test_a_budget_is_there_before_or_after_the_event(change, declared, before, after):
    assert change.write_budgets(declared, has_happened=False) == before
    assert change.write_budgets(declared, has_happened=True) == after


def test_the_event_happens_once_and_says_what_it_does():
    event = BudgetEvent(EventSource(LAYOUT, _change(CREATED), 4), _change(CREATED))
    done = (Remember(4, (0,)),)

    assert event.reads == Reads((), (), (4,))
    assert event.act(Seen((), (), ((1,),))) == (Decision(done, Role.EVENT),)
    assert event.act(Seen((), (), ((0,),))) == ()
    assert event.tells(done) == "PodDisruptionBudget/shop/web is created"


class _Loop:
    """Answers with what it is shown of memories."""

    name, stage, reads = "loop", 0, Reads((0,), (0,), (7,))

    def show_workload(self, workload, cell):
        return cell

    def show_node(self, place, cell):
        return cell

    def act(self, seen):
        return (Decision((Remember(7, seen.memories[0]),)),)


def test_a_guarded_loop_works_while_its_guard_holds_and_is_shown_nothing_of_it():
    loop = guard_loop(_Loop(), ((2, (0,)), (3, (1,))))

    assert (loop.name, loop.stage, loop.reads) == ("loop", 0, Reads((0,), (0,), (7, 2, 3)))
    assert (loop.show_workload(0, "cell"), loop.show_node(0, "node")) == ("cell", "node")
    assert loop.act(Seen((), (), ((5,), (0,), (1,)))) == (Decision((Remember(7, (5,)),)),)
    assert loop.act(Seen((), (), ((5,), (1,), (1,)))) == ()


def test_without_a_guard_a_loop_is_itself_and_guards_can_be_taken_off():
    plain = _Loop()
    on, off = Guarded(plain, ((0, (1,)),)), Guarded(_Loop(), ((0, (0,)),))

    assert guard_loop(plain, ()) is plain
    assert list(working((plain, on, off), [(1,)])) == [plain, plain]


def test_every_set_of_changes_has_its_own_eviction_loop():
    events = (Drain(name="drain"), _change(CREATED))
    whole = setup([node("n1")], workload())
    loops = build_controllers(layout(whole), events)
    drains = [loop for loop in loops if isinstance(loop, Guarded)]

    assert [loop.guard for loop in drains] == [((1, (1,)),), ((1, (0,)),)]
    assert all(isinstance(loop.inner, DrainEviction) for loop in drains)


def test_too_many_changes_are_refused():
    changes = tuple(BudgetChange(name=f"c{number}", budget=f"shop/b{number}", verb=CREATED) for number in range(4))

    with pytest.raises(UsageError, match="4 budgets come, go or change"):
        build_controllers(LAYOUT, changes)
