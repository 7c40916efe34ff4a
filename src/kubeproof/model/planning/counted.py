"""The mechanics of a plan: which ages, numbers and times of pods somebody asks for."""

from __future__ import annotations

from kubeproof.cluster.loops.footprint import Writes
from kubeproof.cluster.objects import Setup, family
from kubeproof.cluster.services import route_after_deletion
from kubeproof.events.declarations import Event, find_writes_of
from kubeproof.intents.declarations import Intent
from kubeproof.intents.predicates.asked import find_targeted, list_followed_targets, most_terminating_asked
from kubeproof.model.expansion.cron import run_times
from kubeproof.model.expansion.revisions import never_ready
from kubeproof.model.expansion.used import usage_rules
from kubeproof.model.loops.adjusting import ages_that_matter, jobs_counted, lives_that_matter, may_run_unready
from kubeproof.model.loops.assembly import most_failed
from kubeproof.model.mechanics import Mechanics
from kubeproof.model.planning.given import Given


def make_mechanics(given: Given) -> Mechanics:
    """The mechanics that tell apart what somebody asks for, and nothing else."""
    setup, events, intents = given.setup, given.events, given.intents
    rules = usage_rules(setup, events)
    may_be_sure = given.may_merge and not given.running
    unready = may_run_unready(setup, events) if may_be_sure else given.everybody
    return Mechanics(
        setup,
        ages_that_matter(setup, rules, unready),
        most_failed=most_failed(setup, intents),
        kept=jobs_counted(setup),
        never_ready=never_ready(setup, events),
        most_asked=max((most_terminating_asked(intent) for intent in intents), default=0),
        runs_s=run_times(setup, events),
        routes=_routes(setup, intents),
        lives=lives_that_matter(setup, events, rules),
        spare_ages=_spare_ages(setup, events),
    )


def _routes(setup: Setup, intents: tuple[Intent, ...]) -> dict[int, tuple[int, int]]:
    """How long deleted pods go on getting traffic, for the workloads of which a property asks that."""
    targets = {target for intent in intents for target in list_followed_targets(intent)}
    followed = {number for target in targets for number in find_targeted(setup.workloads, target)}
    members = sorted({member for number in followed for member in family(setup, number)})
    return {member: route_after_deletion(setup, member) for member in members}


def _spare_ages(setup: Setup, events: tuple[Event, ...]) -> tuple[int, ...]:
    """For how long a node has to be unneeded until the cluster autoscaler may delete it; longer if it is not ready."""
    flags = setup.cluster_autoscaler
    if flags is None:
        return ()
    may_fail = bool(find_writes_of(events) & Writes.FAILURES)
    return tuple(sorted({flags.unneeded_s, *((flags.unready_s,) if may_fail and flags.removes_unready else ())}))
