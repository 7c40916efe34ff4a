"""Workloads of which every pod lives by itself, so that it is enough to follow one of them.

Pods of a ReplicaSet are alike, and where no rule of theirs looks at another one they meet in three places only: their
owner counts them, they take each other's room, and they sway the scheduler's choice. So one pod is followed, with a
size that is 0 or 1 whenever somebody likes; the others are as much beside it as those of other workloads.
If it always comes to rest, all do; if it is always ready in the end, all pods are that are wanted; and if it always
leaves a node that is drained, drains complete. `docs/explanation/reductions.md` has the argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kubeproof.cluster.loops.footprint import ON_NODES, Writes, footprint_of
from kubeproof.cluster.objects import PodAffinity, Setup, Strategy, Workload
from kubeproof.cluster.steering.policies import HorizontalPodAutoscaler
from kubeproof.events.declarations import Event, is_drain
from kubeproof.intents.catalogue import entry
from kubeproof.intents.declarations import EVENTUALLY_ALWAYS, Amount, Intent
from kubeproof.intents.kind import OfEachPod
from kubeproof.manifests.loaded import Loaded
from kubeproof.verify.proofs.slicing import Slice

RESIZED = Writes.SIZES | Writes.TEMPLATES  # what a pod sees of these: it is wanted, or not any longer
OF_PODS = Writes.CRASHES | Writes.USAGE


def follow_one_pod(part: Slice) -> Slice | None:
    """The part with one pod of its workload, and what is asked of it; None if pods do not live alone."""
    setup, events = part.loaded.setup, part.loaded.scenario.events
    if len(setup.workloads) != 1 or not _live_alone(part.loaded):
        return None
    (workload,) = setup.workloads
    one = _alone(workload)
    kept = tuple(event for event in events if not footprint_of(event).writes & RESIZED)
    asked = tuple(_ask_pod(what, workload) for what in find_asked_of_pod(part))
    scenario = replace(part.loaded.scenario, events=kept, intents=asked)
    smaller = replace(setup, workloads=(one,), budgets=())
    return Slice(replace(part.loaded, setup=smaller, scenario=scenario), part.workloads, tuple(range(len(asked))))


def find_asked_of_pod(part: Slice) -> tuple[OfEachPod, ...]:
    """What is asked of the one pod, in this order: that it leaves nodes only where some are drained."""
    is_drained = any(map(is_drain, part.loaded.scenario.events))
    return tuple(what for what in OfEachPod if is_drained or what is not OfEachPod.LEAVES)


def _ask_pod(what: OfEachPod, workload: Workload) -> Intent:
    match what:
        case OfEachPod.SETTLES:
            return Intent(key="settles", name="settles")
        case OfEachPod.READY:
            every = Amount(100, percent=True)
            return Intent(key="minReady", name="ready", target=workload.ref, when=EVENTUALLY_ALWAYS, count=every)
        case OfEachPod.LEAVES:
            return Intent(key="drainCompletes", name="leaves")


def _alone(workload: Workload) -> Workload:
    """One pod of it, without what makes nodes better or worse: nobody asks then for pods that end.

    Rollouts are changes of size here, so neither does its owner.
    """
    template = replace(workload.template, spread=(), pod_affinity=PodAffinity(), pod_anti_affinity=PodAffinity())
    return replace(workload, replicas=1, template=template, strategy=Strategy())


def may_be_resized(part: Slice) -> bool:
    """True if a pod of the part may come to be wanted, or not wanted any longer."""
    events = part.loaded.scenario.events
    return any(footprint_of(event).writes & RESIZED for event in events) or any(_working(part.loaded))


def has_fixed_size(loaded: Loaded) -> bool:
    """True if the workload keeps the size that its manifest says."""
    is_written = any(footprint_of(event).writes & Writes.SIZES for event in loaded.scenario.events)
    return not is_written and not _working(loaded)


def find_least(part: Slice) -> int:
    """The smallest size that anybody may give the workload of a part."""
    (workload,) = part.loaded.setup.workloads
    sizes = [workload.replicas]
    sizes += [size for event in part.loaded.scenario.events for size in event.sizes]
    sizes += [one.min_replicas for one in _working(part.loaded)]
    return min(sizes)


def find_needs(part: Slice, numbers: Sequence[int]) -> dict[int, OfEachPod]:
    """Of these intents of the whole those that follow from what becomes of each pod, with what that is."""
    told = dict(zip(part.intents, part.loaded.scenario.intents, strict=True))
    least, asked = find_least(part), find_asked_of_pod(part)
    needs = {number: entry(told[number].key).asks_of_each_pod(told[number], least) for number in numbers}
    return {number: what for number, what in needs.items() if what in asked}


def _live_alone(loaded: Loaded) -> bool:
    """True if the pods of the one workload have nothing to do with each other but room, scores and their owner.

    An owner whose pods are never created, being paused or refused, needs no condition: the pod is never ready.
    """
    setup, scenario = loaded.setup, loaded.scenario
    (workload,) = setup.workloads
    if not (workload.rules.has_replica_set and workload.replicas > 0):
        return False
    if scenario.start.placement or scenario.start.pods:
        return False  # some pods are where no scheduler would put the others
    if any(is_drain(event) for event in scenario.events) and _has_budget(setup):
        return False  # which pods a budget lets go depends on the others
    return (
        not looks_at_pods(setup, workload)
        and all(map(_is_known, scenario.events))
        and not any(event.awaited for event in scenario.events)  # what they wait for may not be part of the model
        and _rolls_out_simply(loaded, workload)
    )


def _has_budget(setup: Setup) -> bool:
    if not setup.budgets:
        return False
    from kubeproof.controllers.evictions.budgets import budgets_of  # every plain run comes by here

    return bool(budgets_of(setup, 0))


def _working(loaded: Loaded) -> tuple[HorizontalPodAutoscaler, ...]:
    """The autoscalers that may ever write a size."""
    if not loaded.setup.autoscalers:
        return ()
    from kubeproof.verify.proofs.crowd.room import working

    return tuple(working(loaded))


def looks_at_pods(setup: Setup, workload: Workload) -> bool:
    """True if a pod may be kept from a node because of other pods there, room aside."""
    template = workload.template
    containers = (*template.containers, *template.init_containers)
    defaults = [constraint for profile in setup.profiles for constraint in profile.default_spread or ()]
    return bool(
        any(constraint.hard for constraint in template.spread)
        or any(constraint.hard for constraint in defaults)
        or template.pod_affinity.required
        or template.pod_anti_affinity.required
        or template.claims
        or any(container.host_ports for container in containers)
    )


def _is_known(event: Event) -> bool:
    """True for what happens to nodes or to single pods, for changes of size, and for rollouts.

    That an object comes or goes is left to others: no cluster is known that would get a wrong verdict, nor why none is.
    """
    told = footprint_of(event)
    return told.is_moment and not told.writes & ~(ON_NODES | RESIZED | OF_PODS)


def _rolls_out_simply(loaded: Loaded, workload: Workload) -> bool:
    """True if what pods are wanted of each revision comes to rest only where all of one are.

    A Deployment that is resized in the middle of a rollout may stay there for ever: its controller takes a size that it
    has noted before for a new one, and does nothing but scale. One that is recreated waits for pods that never end.
    """
    events = loaded.scenario.events
    if not any(footprint_of(event).writes & Writes.TEMPLATES for event in events):
        return True
    is_resized = any(footprint_of(event).writes & Writes.SIZES for event in events) or any(_working(loaded))
    return workload.strategy.rolling and not is_resized and _is_once(loaded)


def _is_once(loaded: Loaded) -> bool:
    """True if there are two revisions, and nobody goes back: so far reaches the argument, and the test of rollouts.

    No rollout is known that would stop in the middle because there are more, so no cluster misses this condition.
    """
    rollouts = [event for event in loaded.scenario.events if footprint_of(event).writes & Writes.TEMPLATES]
    is_undone = loaded.setup.settings.gitops_interval_s is not None
    return [event.new_revisions for event in rollouts] == [1] and not is_undone
