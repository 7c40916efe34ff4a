"""One scheduling attempt where pods have priorities: nominated pods count, and a pod that fits nowhere preempts.

Mirrors `pkg/scheduler/schedule_one.go` with DefaultPreemption as PostFilter. Filters see a node once with the pods
nominated to it, of at least equal priority, and once without them; both must pass. A pod that is nominated tries its
node first and takes it without scoring. If no node passes, preemption looks for victims; while those that were
preempted on its node still terminate, the pod waits. If preemption finds nothing, the nomination ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from kubeproof.cluster.api import versions
from kubeproof.cluster.loops.actions import Action, Bind, NodeRef, Preempt, Unnominate
from kubeproof.cluster.loops.control import Decision
from kubeproof.cluster.nodes.places import Layout
from kubeproof.cluster.objects import Setup
from kubeproof.cluster.steering.priorities import may_preempt, priority_of
from kubeproof.controllers.evictions.budgets import select_by
from kubeproof.controllers.scheduler.framework import NodeInfo, PodCount, Row, Scheduler
from kubeproof.controllers.scheduler.preemption import DryRun, Pod, Victims, choosable
from kubeproof.named_tuples import NamedTuple

PLUGIN = "DefaultPreemption"
ONLY_PREEMPTED_SINCE = versions.ONLY_PREEMPTED.since

Claims = tuple[tuple[int, int], ...]  # (workload, pods nominated)


class Held(NamedTuple):
    """Pods of one workload on one node."""

    workload: int
    alive: int
    terminating: int  # preempted ones included
    preempted: int
    ready: int = 0  # counted where a budget asks


class Entry(NamedTuple):
    """Equal nodes, with what is nominated to each by others than the pod that is tried."""

    ref: NodeRef
    info: NodeInfo
    held: tuple[Held, ...]
    claims: Claims


class Candidate(NamedTuple):
    """A node where preemption would help: what it may lose, and how that was worked out."""

    entry: int
    outcomes: frozenset[Victims]
    run: DryRun


class Attempt:
    """Attempts for pods of one workload; pure, so that answers may be remembered."""

    def __init__(self, layout: Layout, workload: int, kernel: Scheduler) -> None:
        setup = layout.setup
        self._setup = setup
        self.workload = workload
        self.kernel = kernel
        self.priority = priority_of(setup.workloads[workload].template)
        self._priorities = tuple(priority_of(other.template) for other in setup.workloads)
        self._budgets = tuple(_match_budgets(setup, index) for index in range(len(setup.workloads)))
        self._preempts = _preempts(setup, workload)
        self._version = setup.settings.kubernetes_version

    @property
    def asks_budgets(self) -> bool:
        """True if a pod that it may preempt is under a budget."""
        below = [index for index, priority in enumerate(self._priorities) if priority < self.priority]
        return self._preempts and any(self._budgets[index] for index in below)

    def decisions(
        self, entries: Sequence[Entry], free: int, allowed: tuple[int, ...], refusing: set[str]
    ) -> tuple[Decision, ...]:
        """All steps possible for a pod of the workload; filters that refuse a node are added to `refusing`.

        `free` is the number of its pods that wait without a nomination, negative if nominations are left of pods that
        are gone; `allowed` is what the budgets still allow.
        """
        claimed = [index for index, entry in enumerate(entries) if dict(entry.claims).get(self.workload)]
        if free < 0:
            return tuple(Decision((Unnominate(entries[index].ref, self.workload),)) for index in claimed)
        if not self.kernel.has_profile:
            return ()
        found = self.try_entries(entries, None, allowed, refusing) if free else []
        for index in claimed:
            found += self.try_entries(*self._at_home(entries, index), allowed, refusing)
        return tuple(dict.fromkeys(Decision(actions) for actions in found))

    def _at_home(self, entries: Sequence[Entry], index: int) -> tuple[list[Entry], int]:
        """The nodes as a pod that is nominated to one of them sees them: that node first, without its own claim."""
        home = entries[index]
        claims = tuple((w, n - (w == self.workload)) for w, n in home.claims if n > (w == self.workload))
        rest = [entry for place, entry in enumerate(entries) if place != index]
        if home.info.count > 1:
            rest.insert(0, home._replace(info=home.info._replace(count=home.info.count - 1)))
        return [home._replace(info=home.info._replace(count=1), claims=claims), *rest], 0

    def try_entries(
        self, entries: Sequence[Entry], home: int | None, allowed: tuple[int, ...], refusing: set[str]
    ) -> list[tuple[Action, ...]]:
        """What an attempt may lead to; `home` is the node that the pod is nominated to."""
        infos = [entry.info for entry in entries]
        if home is not None and self._passes(infos, entries, home, refusing):
            return [(Bind(entries[home].ref, self.workload, was_nominated=True),)]
        leaving: tuple[Action, ...] = () if home is None else (Unnominate(entries[home].ref, self.workload),)
        feasible = [index for index in range(len(entries)) if self._passes(infos, entries, index, refusing)]
        if feasible:
            chosen = self.kernel.best(infos, feasible)
            return [(*leaving, Bind(ref, self.workload)) for ref in dict.fromkeys(entries[i].ref for i in chosen)]
        rows = self.rows(entries)
        if rows is None or not self._preempts or self._waits(entries, rows, home):
            return []
        candidates = self.candidates(entries, rows, allowed)
        if not candidates:
            return [leaving] if leaving else []
        return self._preemptions(entries, home, leaving, candidates)

    def _preemptions(
        self, entries: Sequence[Entry], home: int | None, leaving: tuple[Action, ...], candidates: list[Candidate]
    ) -> list[tuple[Action, ...]]:
        found: list[tuple[Action, ...]] = []
        for candidate, chosen in zip(candidates, choosable([c.outcomes for c in candidates]), strict=True):
            stays = candidate.entry == home
            for losses in dict.fromkeys(_alive_losses(candidate.run, victims) for victims in chosen):
                action = Preempt(entries[candidate.entry].ref, self.workload, losses, was_nominated=stays)
                if losses or not stays:
                    found.append((action,) if stays else (*leaving, action))
        return found

    # -- filters with nominated pods ------------------------------------------------------------

    def beside(self, entry: Entry) -> Claims:
        """The nominations that the pod must leave room for."""
        return tuple((w, n) for w, n in entry.claims if self._priorities[w] >= self.priority)

    def _passes(self, infos: list[NodeInfo], entries: Sequence[Entry], index: int, refusing: set[str]) -> bool:
        """True if the filters pass with the nominated pods and without them."""
        claims = self.beside(entries[index])
        refused_by = ""
        if claims:
            refused_by = self.kernel.find_refusal(
                *_change_node(infos, index, with_nominated(infos[index].pods, claims))
            )
        refused_by = refused_by or self.kernel.find_refusal(infos, index)
        refusing.update([refused_by] if refused_by else [])
        return not refused_by

    def rows(self, entries: Sequence[Entry]) -> tuple[Row, ...] | None:
        """Why each node is refused, nominated pods included; None if the attempt itself fails."""
        infos = [entry.info for entry in entries]
        plain = self.kernel.refusals(infos)
        if plain is None:
            return None
        found = []
        for index, entry in enumerate(entries):
            row, claims = plain[index], self.beside(entry)
            if claims:
                changed, place = _change_node(infos, index, with_nominated(infos[index].pods, claims))
                refusals = self.kernel.refusals(changed)
                row = refusals[place] if refusals is not None and refusals[place].rejected_by else row
            found.append(row)
        return tuple(found)

    # -- preemption -----------------------------------------------------------------------------

    def _waits(self, entries: Sequence[Entry], rows: Sequence[Row], home: int | None) -> bool:
        """True while pods that were preempted on the pod's node still terminate."""
        if home is None or rows[home].unresolvable:
            return False
        any_will_do = self._version < ONLY_PREEMPTED_SINCE
        lower = [held for held in entries[home].held if self._priorities[held.workload] < self.priority]
        return any(held.terminating if any_will_do else held.preempted for held in lower)

    def candidates(self, entries: Sequence[Entry], rows: Sequence[Row], allowed: tuple[int, ...]) -> list[Candidate]:
        """The nodes on which preemption would help."""
        found = []
        for index in range(len(entries)):
            if not rows[index].unresolvable:
                run = self._dry_run(entries, index, allowed)
                outcomes = run.outcomes()
                found += [Candidate(index, outcomes, run)] if outcomes else []
        return found

    def _dry_run(self, entries: Sequence[Entry], index: int, allowed: tuple[int, ...]) -> DryRun:
        infos = [entry.info for entry in entries]
        lower = [held for held in entries[index].held if self._priorities[held.workload] < self.priority]
        others = tuple(p for p in infos[index].pods if self._priorities[p.workload] >= self.priority)
        claims = self.beside(entries[index])
        counts = [
            (Pod(held.workload, gone, self._priorities[held.workload], self._budgets[held.workload]), count)
            for held in lower
            for gone, count in ((False, held.alive), (True, held.terminating))
            if count
        ]
        pods = tuple(pod for pod, _ in counts)

        @cache
        def fits(kept: tuple[int, ...]) -> bool:
            left = (*others, *_count_pods(pods, kept))
            with_them = with_nominated(left, claims)
            return all(self.kernel.admits(*_change_node(infos, index, way)) for way in dict.fromkeys((with_them, left)))

        return DryRun(pods, tuple(count for _, count in counts), allowed, fits, self._version)


def _preempts(setup: Setup, workload: int) -> bool:
    template = setup.workloads[workload].template
    profile = next((p for p in setup.profiles if p.name == template.scheduler_name), None)
    return may_preempt(template) and profile is not None and PLUGIN not in profile.disabled


def _match_budgets(setup: Setup, workload: int) -> tuple[int, ...]:
    """The budgets that preemption counts for a pod: here an empty selector means none, nor does one without labels."""
    return tuple(
        number
        for number, budget in enumerate(setup.budgets)
        if budget.selector is not None
        and not budget.selector.is_empty
        and setup.workloads[workload].template.labels
        and workload in select_by(setup, budget)
    )


def _change_node(infos: list[NodeInfo], index: int, pods: tuple[PodCount, ...]) -> tuple[list[NodeInfo], int]:
    """The nodes with the pods of one of them replaced, and where that one is now."""
    changed = list(infos)
    alone = infos[index]._replace(count=1, pods=pods)
    if infos[index].count == 1:
        changed[index] = alone
        return changed, index
    changed[index] = infos[index]._replace(count=infos[index].count - 1)
    return [*changed, alone], len(changed)


def with_nominated(pods: tuple[PodCount, ...], claims: Claims) -> tuple[PodCount, ...]:
    """The pods of a node with nominated ones beside them."""
    counts = {p.workload: p for p in pods}
    for workload, more in claims:
        before = counts.get(workload, PodCount(workload, 0, 0))
        counts[workload] = before._replace(alive=before.alive + more)
    return tuple(counts[workload] for workload in sorted(counts))


def _count_pods(pods: tuple[Pod, ...], kept: tuple[int, ...]) -> tuple[PodCount, ...]:
    counts: dict[int, list[int]] = {}
    for pod, count in zip(pods, kept, strict=True):
        if count:
            counts.setdefault(pod.workload, [0, 0])[pod.terminating] += count
    return tuple(PodCount(workload, *both) for workload, both in counts.items())


def _alive_losses(run: DryRun, victims: Victims) -> tuple[tuple[int, int], ...]:
    """The victims by workload; those that terminate already are not deleted again."""
    return tuple(
        (pod.workload, count)
        for pod, count in zip(run.pods, victims.lost, strict=True)
        if count and not pod.terminating
    )
