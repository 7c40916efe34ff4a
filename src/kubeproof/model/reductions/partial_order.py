"""Which orders of steps need not be followed, because others stand for them."""

from __future__ import annotations

from kubeproof.model.plan import Plan
from kubeproof.model.reductions.due_starts import find_immediate
from kubeproof.model.reductions.ends_in_unison import ending_unseen
from kubeproof.model.reductions.starts_in_unison import find_unwatched, starts_freely
from kubeproof.model.reductions.without_clocks import gains_without_clocks
from kubeproof.model.reductions.young_pods import countable
from kubeproof.named_tuples import NamedTuple


class Order(NamedTuple):
    """Which orders of steps are left out, because others stand for them."""

    in_unison: frozenset[int] = frozenset()  # workloads whose pods start together (`starts_in_unison`)
    at_once: bool = False  # and each start is the first step of all
    alone: bool = False  # steps that commute with all others are taken alone (`persistent_steps`)
    counted: frozenset[int] = frozenset()  # workloads whose young pods are counted as a whole (`young_pods`)
    timeless: bool = False  # clocks are left open (`without_clocks`)
    ending: frozenset[int] = frozenset()  # workloads whose terminating pods end together (`ends_in_unison`)
    immediate: frozenset[int] = frozenset()  # workloads whose starts that are due come first (`due_starts`)

    @property
    def is_relaxed(self) -> bool:
        """True if runs are allowed that the plan does not have: then only what holds is known."""
        return self.timeless or bool(self.counted)

    def exact(self, plan: Plan) -> Order:
        """The order without additional runs."""
        ending = self.ending or ending_unseen(plan)
        return self._replace(timeless=False, counted=frozenset(), ending=ending, immediate=find_immediate(plan))


EVERY_ORDER = Order()


def fewer_orders(plan: Plan) -> Order:
    """What may be left out when a plan is explored, as far as the plan alone tells."""
    if plan.setup.settings.startup_choices:
        return Order(alone=True)  # pods that were bound together do not start together
    if any(monitor.temporal is not None for monitor in plan.monitors):
        return Order(find_unwatched(plan), alone=True)  # coarser models split steps and leave out time: other words
    if gains_without_clocks(plan):
        return Order(find_unwatched(plan), alone=True, timeless=True)
    return Order(find_unwatched(plan), alone=True, ending=ending_unseen(plan), counted=countable(plan))


def orders_of_deploying(plan: Plan) -> Order:
    """What may be left out when only the stable states of a plan without events are asked for."""
    if plan.setup.settings.startup_choices or not starts_freely(plan):
        return Order(alone=True)
    return Order(frozenset(range(len(plan.workloads))), at_once=True, alone=True)
