"""What a plan is made from."""

from __future__ import annotations

from collections.abc import Callable

from kubeproof.cluster.loops.control import Loop
from kubeproof.cluster.loops.mentions import Mention
from kubeproof.cluster.nodes.near_nodes import Tells
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.running import RunningPods
from kubeproof.events.declarations import Event, NodeChoice
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import find_targeted, targets_of
from kubeproof.model.expansion.cron import with_cron_jobs
from kubeproof.model.expansion.ordinals import with_ordinals
from kubeproof.model.expansion.revisions import with_applied, with_revisions
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.layout import settle_arrived
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass, replace

Placement = tuple[tuple[str, tuple[tuple[str, int], ...]], ...]


class OwnLoop(NamedTuple):
    """A user's own controller: how to make it for a layout, and the node labels it reads."""

    make: Callable[[Layout], Loop]
    labels: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Given:
    """A cluster and what may happen to it, as the input has them or with all that may come to be."""

    setup: Setup
    events: tuple[Event, ...] = ()
    intents: tuple[Intent, ...] = ()
    placement: Placement = ()
    running: tuple[RunningPods, ...] = ()
    own: tuple[OwnLoop, ...] = ()
    merge: bool = True  # False: no two nodes are taken as equal
    told_apart: tuple[NodeChoice, ...] = ()  # nodes that one admits are never taken as equal to others
    told_by: tuple[Tells, ...] | None = None  # answers that tell nodes of nearly the same size apart; None: all do
    is_checked: bool = False  # loops are held to their footprints, and read no label that nobody mentions
    also: tuple[Mention, ...] = ()  # what loops read of nodes beside what those of most clusters do
    applied: frozenset[int] = frozenset()  # workloads that an event applies
    named: frozenset[str] = frozenset()  # references of workloads that something speaks of by name

    @property
    def may_merge(self) -> bool:
        """True if equals may be taken as equal; an own controller may tell any two apart."""
        return self.merge and not self.own

    @property
    def everybody(self) -> frozenset[int]:
        """All workloads."""
        return frozenset(range(len(self.setup.workloads)))


def expand(given: Given) -> Given:
    """The same with every object that may come to be: applied ones, later revisions, ordinals, Jobs, other sizes."""
    events = given.events
    named = _find_named(given.setup, events, given.intents, given.placement) | {one.ref for one in given.running}
    setup = settle_arrived(given.setup, named) if given.may_merge else given.setup
    setup, applied = with_applied(setup, events)
    setup = with_cron_jobs(with_ordinals(with_revisions(setup, events), events), events)
    if setup.verticals:
        from kubeproof.model.expansion.sizes import with_sizes

        setup = with_sizes(setup, events, usage_rules(setup, events))
    return replace(given, setup=setup, applied=applied, named=named)


def _find_named(
    setup: Setup, events: tuple[Event, ...], intents: tuple[Intent, ...], placement: Placement
) -> frozenset[str]:
    """The references of the workloads that an event, a property, a predicate of one, or the placement names."""
    named = {str(ref) for ref in (*(e.subject for e in events), *(i.target for i in intents))}
    named |= {ref for ref, _ in placement}
    for target in (target for intent in intents for target in targets_of(intent)):
        named |= {setup.workloads[index].ref for index in find_targeted(setup.workloads, target)}
    return frozenset(named)
