"""cpuChange, memoryChange, cpuLoad, unreachable and kernelPanic: what pods really use, and what too much of it does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import product

from kubeproof.cluster.loops.actions import Action, NodeChange, NodeRef, Remember
from kubeproof.cluster.loops.actors import Actor, ActorKind
from kubeproof.cluster.loops.control import Decision, Groups, Reads, Role, Seen, Stage
from kubeproof.cluster.loops.footprint import NOBODY, QUIET, Footprint, Writes
from kubeproof.cluster.loops.node_verbs import PANIC, RECOVER
from kubeproof.cluster.nodes.daemons import daemon_sets
from kubeproof.cluster.nodes.near_nodes import agree_monotone
from kubeproof.cluster.state import KUBELET_LIVES, NEVER, Cause, NodeCell, Phase, Work
from kubeproof.cluster.usage import (
    CPU,
    Pod,
    UsageRule,
    containers_of,
    find_shared_rule,
    memories_read,
    pod_usage,
    rules_about,
    share_of,
)
from kubeproof.events.common import EventSource, NoNodes, NoWorkloads, Sourced, one_less
from kubeproof.events.event import Moves, Usage
from kubeproof.events.usage_declared import CpuLoad, KernelPanic, Unreachable, UsageChange
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

RUNS = (Phase.RUNNING, Phase.READY, Phase.UNREADY)
Running = tuple[tuple[tuple[int, int], int], ...]  # ((workload, age), running pods)


class Load(NamedTuple):
    """What runs on a node."""

    is_up: int  # the kubelet
    running: Running


Sight = Seen[None, Groups[Load]]


@dataclass(frozen=True, slots=True)
class LevelEvent(Sourced, NoWorkloads, NoNodes):
    """Moves a workload's usage to another level; memory is (level, changes left or -1 for any number)."""

    source: EventSource
    levels: int
    moves: Moves | None = None  # None: from each to each

    footprint = replace(QUIET, writes=Writes.USAGE)

    @property
    def reads(self) -> Reads:
        return self.source.reads()

    def act(self, seen: Seen[None, Groups[None]]) -> tuple[Decision, ...]:
        """A change to each other level that may follow."""
        level, left = seen.memories[0]
        if left == 0 or not self.source.may_happen(seen.memories):
            return ()
        return tuple(
            Decision((Remember(self.source.memory, (other, one_less(left))),), Role.EVENT)
            for other in range(self.levels)
            if other != level and (self.moves is None or self.moves[level][other] > 0)
        )

    def tells(self, actions: tuple[Action, ...]) -> str:
        """What a change means, in words."""
        event = self.source.event
        level = next((a.value[0] for a in actions if isinstance(a, Remember)), 0)
        if isinstance(event, UsageChange):
            return _change_words(event, event.levels[level])
        if isinstance(event, CpuLoad) and event.requests:
            load = f"{event.levels[level]}m of CPU for the ready pods of {event.target}"
            return f"Service {event.service} gets {event.requests[level]} requests per second: {load}"
        if isinstance(event, CpuLoad):
            return f"the CPU load of {event.target} becomes {event.levels[level]}m in all"
        return "the load changes"


def _change_words(event: UsageChange, level: Usage) -> str:
    whose, theirs = f"{event.target}'s pods", "their"
    if event.container:
        whose, theirs = f"container {event.container} of {whose}", "its"
    share = f" of {theirs} request" if level.percent is not None else ""
    return f"the {event.resource} use of {whose} becomes {level}{share}"


@dataclass(frozen=True, slots=True)
class UnreachableEvent(Sourced, NoWorkloads, NoNodes):
    """Keeps traffic away from a workload's pods, or lets it through again; memory is (1 while cut off, times left).

    The end waits for nothing, whatever the fault waits for, so that it is an actor of its own.
    """

    source: EventSource
    event: Unreachable
    ends: bool = False

    footprint = replace(QUIET, writes=Writes.USAGE)

    @property
    def stage(self) -> int:
        return Stage.ALWAYS if self.ends else self.source.stage

    @property
    def reads(self) -> Reads:
        return self.source.reads()

    def act(self, seen: Seen[None, Groups[None]]) -> tuple[Decision, ...]:
        """The fault while its budget lasts, or its end."""
        is_off, left = seen.memories[0]
        if self.ends:
            after = (0, left) if is_off else None
        else:
            may_come = not is_off and left and self.source.may_happen(seen.memories)
            after = (1, one_less(left)) if may_come else None
        return () if after is None else (Decision((Remember(self.source.memory, after),), Role.EVENT),)

    def tells(self, actions: tuple[Action, ...]) -> str:
        """What happens, in words."""
        is_off = any(isinstance(action, Remember) and action.value[0] for action in actions)
        if is_off:
            return f"the pods of {self.event.target} get no traffic any more; each uses {self.event.idle} CPU"
        return f"the pods of {self.event.target} get traffic again"


@dataclass(frozen=True, slots=True)
class KernelPanicEvent(NoWorkloads):
    """Fails a node whose real CPU use passes the level, and brings it back when its pods are gone.

    Not a choice of the environment but a consequence, so it is urgent like a controller's step.
    """

    source: EventSource
    event: KernelPanic
    rules: tuple[UsageRule, ...]
    stage: int = Stage.ALWAYS

    footprint = Footprint(
        writes=Writes.FAILURES,
        sees_objects=NOBODY,
        sees_new_pods=NOBODY,
    )

    @property
    def name(self) -> Actor:
        return Actor(ActorKind.EVENT, self.event.name)

    @property
    def reads(self) -> Reads:
        return Reads((), self.source.layout.every_place, (self.source.memory, *memories_read(self.rules)))

    def show_node(self, place: int, cell: NodeCell) -> Load | None:
        """Whether the kubelet is up, and what runs on the node."""
        if cell.work == Work.DOWN or cell.cause in (Cause.FAILURE, Cause.FOR_GOOD):
            return None
        amounts: dict[tuple[int, int], int] = {}
        for kind, count in cell.pods:
            if kind.phase in RUNS:
                key = (kind.workload, kind.age_s)
                amounts[key] = amounts.get(key, 0) + count
        return Load(int(cell.health in KUBELET_LIVES), tuple(sorted(amounts.items())))

    def act(self, seen: Sight) -> tuple[Decision, ...]:
        """One step per node that is overloaded, or down and freed."""
        (left,) = seen.memories[0]
        memories = self._all_memories(seen)
        decisions = []
        sharers = _running_pods(seen)
        for place, groups in zip(self.reads.places, seen.places, strict=True):
            if not self.event.nodes.admits(self.source.layout.places[place].sample):
                continue
            for view in dict.fromkeys(view for view, _ in groups):
                is_up, running = view
                if is_up and left and self._is_overloaded(place, running, memories, sharers):
                    change = NodeChange(NodeRef(place, view), PANIC)
                    decisions.append(Decision((change, Remember(self.source.memory, (one_less(left),)))))
                elif not is_up and self._is_freed(place, running, memories, sharers):
                    decisions.append(Decision((NodeChange(NodeRef(place, view), RECOVER),)))
        return tuple(decisions)

    def why_of(self, actions: tuple[Action, ...], seen: Sight) -> tuple[str, ...]:
        """What the pods of a node that panics use, and what it bears."""
        memories, sharers = self._all_memories(seen), _running_pods(seen)
        found = []
        for action in actions:
            if isinstance(action, NodeChange) and action.verb == PANIC and isinstance(action.node.view, Load):
                place, running = action.node.place, action.node.view.running
                used = [(w, pods, self._pod_use(w, age_s, memories, sharers)) for (w, age_s), pods in running]
                size = self.source.layout.places[place].sample.cpu_milli
                total = sum(pods * each for _, pods, each in used)
                names = self.source.layout.setup.workloads
                told = ", ".join(f"{pods} of {names[w].ref} {each}m each" for w, pods, each in used)
                found.append(f"{told}: {total}m of {size}m cpu, {100 * total // size} %; bears {self.event.above}")
        return tuple(found)

    def stays_up(self, place: int, workload: int, pods: int) -> bool:
        """True if so many pods of a workload, and nothing else, never make a node fail, whatever they use."""
        rules = rules_about(self.rules, CPU, workload)
        if any(rule.is_shared for rule in rules):
            return False
        ages = {0, NEVER, *(until_s for rule in rules for until_s in rule.until_s)}
        return not any(
            self._is_overloaded(place, (((workload, age_s), pods),), memories, {})
            for memories in _all_levels(rules)
            for age_s in ages
        )

    def _is_freed(
        self,
        place: int,
        running: Running,
        memories: dict[int, tuple[int, ...]],
        sharers: dict[int, int],
    ) -> bool:
        """True if all pods are gone but those of DaemonSets, which never go, and these alone are not too much."""
        daemons = daemon_sets(self.source.layout.setup)
        only_daemons = all(workload in daemons for (workload, _), _ in running)
        return only_daemons and not self._is_overloaded(place, running, memories, sharers)

    def _all_memories(self, seen: Sight) -> dict[int, tuple[int, ...]]:
        return dict(zip(self.reads.memories, seen.memories, strict=True))

    def _is_overloaded(
        self,
        place: int,
        running: Running,
        memories: dict[int, tuple[int, ...]],
        sharers: dict[int, int],
    ) -> bool:
        used = sum(pods * self._pod_use(w, age_s, memories, sharers) for (w, age_s), pods in running)
        node = self.source.layout.places[place].sample
        above = self.event.above
        if above.amount_milli is not None:
            return used > above.amount_milli
        return agree_monotone(node, lambda size: 100 * used > (above.percent or 0) * size.cpu_milli)

    def _pod_use(self, workload: int, age_s: int, memories: dict[int, tuple[int, ...]], sharers: dict[int, int]) -> int:
        """What one running pod uses; a shared load is divided among all that run."""
        setup = self.source.layout.setup
        rules = rules_about(self.rules, CPU, workload)
        pod = Pod(containers_of(setup.workloads[workload].template, setup.settings.kubernetes_version), age_s)
        load = find_shared_rule(rules, memories)
        if load is None:
            return pod_usage(rules, pod, CPU, memories)
        members = {r.workload for r in self.rules if r.is_shared and r.memory == load.memory}
        together = sum(sharers.get(member, 0) for member in members)
        return pod_usage(rules, pod, CPU, memories, share_of(load, age_s, memories, together))


def _all_levels(rules: Iterable[UsageRule]) -> Iterator[dict[int, tuple[int, ...]]]:
    """Every combination of levels that events may have brought about, as the memories that rules point to."""
    choices: dict[int, range] = {}
    for rule in rules:
        if rule.memory is not None:
            choices[rule.memory] = range(len(rule.levels))
        if rule.cut is not None:
            choices[rule.cut] = range(2)
    for levels in product(*choices.values()):
        yield {memory: (level,) for memory, level in zip(choices, levels, strict=True)}


def _running_pods(seen: Sight) -> dict[int, int]:
    """Running pods per workload, over all nodes that are up."""
    totals: dict[int, int] = {}
    for groups in seen.places:
        for (is_up, running), count in groups:
            for (workload, _), pods in running if is_up else ():
                totals[workload] = totals.get(workload, 0) + pods * count
    return totals
