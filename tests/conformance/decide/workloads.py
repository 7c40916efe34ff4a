"""Our Deployment controller decides the recorded cases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import ABSENT, Revision, RolloutWrites, after, rollout_of
from kubeproof.controllers.rollout.scaling import is_scaling_event
from kubeproof.controllers.rollout.sync import sync
from tests.conformance.corpus import Case, Decision
from tests.conformance.objects import read
from tests.oracles import rollout_progress as progress
from tests.oracles.rollout_history import DEFAULT_LIMIT, Kept, expired

MOST_SYNCS = 60
DIVISION = "max-replicas of 0 divides by zero"
EVERYTHING_COMES_UP = {"moves": [[99, 99, 1]]}


@dataclass(slots=True)
class ReplicaSet:
    """One ReplicaSet of the Deployment, with what its controller and the kubelets did so far."""

    number: int
    template: int
    state: Revision
    revision: int
    observed: bool = True
    ending: bool = False  # some of its pods are terminating


@dataclass(slots=True)
class Run:
    """A Deployment while its rollout is replayed."""

    spec: dict[str, Any]
    sets: list[ReplicaSet]
    template: int
    replicas: int
    strategy: Strategy
    paused: bool
    status: progress.Status
    observed: bool = False  # the status is about the current spec
    condition: progress.Progress | None = None
    created: int = 0
    now_s: int = 0
    decisions: list[Decision] = field(default_factory=list)

    @property
    def new(self) -> int | None:
        """Position of the ReplicaSet with the Deployment's template."""
        return next((index for index, one in enumerate(self.sets) if one.template == self.template), None)

    @property
    def revisions(self) -> tuple[Revision, ...]:
        return tuple(one.state for one in self.sets)

    @property
    def deadline_s(self) -> int:
        return int(self.spec.get("progressDeadlineSeconds", progress.DEFAULT_DEADLINE_S))


def rollout(case: Case, upstream: str) -> Decision:
    """Every sync's writes, deletions and conditions."""
    run = _start(case)
    for step in case["steps"]:
        _apply(run, step)
        _sync(run)
    for _ in range(MOST_SYNCS if case["settle"] else 0):
        moved = _apply(run, EVERYTHING_COMES_UP)
        if not _sync(run) and not moved:
            break
    return run.decisions


def explain_rollout(case: Case, upstream: str, recorded: Decision, ours: Decision) -> str | None:
    """The name of a known difference: in sizes alone."""
    if _without_sizes(recorded) != _without_sizes(ours):
        return None
    divisors = [_note(old["max"]) for old in case["sets"] if old["replicas"]]
    is_divided_by_zero = 0 in divisors or (ABSENT in divisors and case["reported"] == 0)
    return DIVISION if upstream == "kubernetes-1.26" and is_divided_by_zero else None


def _without_sizes(decisions: Sequence[Decision]) -> list[Decision]:
    """Which ReplicaSets are written with which annotations, which are deleted, and the conditions, sync by sync."""
    return [[[[number, *notes] for number, _, *notes in writes], *others] for writes, *others in decisions]


def _start(case: Case) -> Run:
    declared = read(case["deployment"]).workloads[0].workload
    sets = [ReplicaSet(number, old["template"], _revision(old), number + 1) for number, old in enumerate(case["sets"])]
    spec = case["deployment"]["spec"]
    template = int(spec["template"]["spec"]["containers"][0]["image"].removeprefix("v"))
    status = progress.Status(case["reported"], 0, 0, 0)
    return Run(spec, sets, template, declared.replicas, declared.strategy, declared.paused, status, created=len(sets))


def _revision(old: Mapping[str, Any]) -> Revision:
    return Revision(old["replicas"], old["available"], old["exists"], _note(old["desired"]), _note(old["max"]))


def _note(text: str) -> int:
    return int(text) if text.isdecimal() else ABSENT


def _apply(run: Run, step: Mapping[str, Any]) -> bool:
    """Changes the Deployment and its pods; tells whether pods moved."""
    run.now_s += step.get("wait", 0)
    run.replicas = step.get("replicas", run.replicas)
    run.template = step.get("template", run.template)
    run.paused = step.get("paused", run.paused)
    if "strategy" in step:
        run.strategy = _strategy(run.spec, step["strategy"])
    if step.keys() & {"replicas", "template", "paused", "strategy"}:
        run.observed = False
    moves = step.get("moves", [])
    moved = [_move(one, moves[one.number % len(moves)]) for one in run.sets] if moves else []
    return any(moved)


def _strategy(spec: dict[str, Any], changed: dict[str, Any]) -> Strategy:
    owner = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}}
    return read({**owner, "spec": {**spec, "strategy": changed}}).workloads[0].workload.strategy


def _move(one: ReplicaSet, amounts: Sequence[int]) -> bool:
    """Creates or deletes at most so many pods, makes so many available, ends terminating ones or not."""
    most, available, is_over = amounts
    before = one.state, one.ending
    change = max(-most, min(most, one.state.size - one.state.exists))
    exists = one.state.exists + change
    one.state = one.state._replace(exists=exists, available=max(0, min(exists, one.state.available + available)))
    one.ending = (one.ending or change < 0) and not is_over
    one.observed = True
    return (one.state, one.ending) != before


def _sync(run: Run) -> bool:
    """One sync; tells whether something was written."""
    left = any(one.state.exists or one.ending for one in run.sets if one.template != run.template)
    known = run.revisions, run.new
    outcome = sync(run.replicas, run.strategy, run.paused, *known, left, run.status.replicas)
    is_rollout_step = not run.paused and not is_scaling_event(rollout_of(run.replicas, run.strategy, *known))
    renumbered = _renumber(run)
    gone = _expired(run, outcome, left) if run.paused or is_rollout_step else []
    writes = _write(run, outcome)
    run.sets = [one for one in run.sets if one not in gone]
    deleted = [one.number for one in gone]
    _report(run, outcome, is_rollout_step, renumbered)
    available = progress.is_available(run.replicas, run.strategy, run.status)
    run.decisions.append([writes, deleted, [available, *(run.condition or ())]])
    return bool(writes or deleted)


def _renumber(run: Run) -> bool:
    """Gives the new ReplicaSet, if it exists, the highest revision; tells whether that was news."""
    if run.new is None:
        return False
    highest = max((one.revision for one in run.sets if one.template != run.template), default=0)
    before = run.sets[run.new].revision
    run.sets[run.new].revision = max(before, highest + 1)
    return before <= highest


def _write(run: Run, outcome: RolloutWrites) -> list[list[Any]]:
    """Carries out the writes, and returns them as they are recorded."""
    notes = rollout_of(run.replicas, run.strategy, (), None).notes
    if outcome.created is not None:
        revision = max((one.revision for one in run.sets), default=0) + 1
        run.sets.append(ReplicaSet(run.created, run.template, Revision(0, 0, 0), revision))
        run.created += 1
    numbers = [one.number for one in run.sets]
    for one, state in zip(run.sets, after(run.revisions[: len(outcome.sizes)], outcome), strict=True):
        one.observed = one.observed and one.state.size == state.size and one.number < run.created
        one.state = state
    return [[numbers[index], size, str(notes.desired), str(notes.max)] for index, size in outcome.writes]


def _expired(run: Run, outcome: RolloutWrites, left: bool) -> list[ReplicaSet]:
    """The ReplicaSets that are not kept any longer: looked at while paused, or when there is nothing else to do."""
    old = [one for one in run.sets if one.template != run.template]
    is_idle = not outcome.changed if run.strategy.rolling else not left and not any(one.state.size for one in old)
    was_complete = run.observed and progress.is_complete(run.replicas, run.status)
    if not run.paused and not (is_idle and was_complete):
        return []
    kept = [Kept(one.revision, one.state.size, one.state.exists, one.observed) for one in old]
    return [old[position] for position in expired(kept, run.spec.get("revisionHistoryLimit", DEFAULT_LIMIT))]


def _report(run: Run, outcome: RolloutWrites, is_rollout_step: bool, renumbered: bool) -> None:
    """Updates the Deployment's status."""
    clock = {"deadline_s": run.deadline_s, "now_s": run.now_s}
    before = run.status
    run.status = progress.status_of(run.revisions, run.new, sum(one.state.available for one in run.sets))
    run.observed = True
    condition = progress.paused_or_resumed(run.condition, run.paused, **clock)
    if run.new is not None and not renumbered:
        condition = progress.found(condition, created=outcome.created is not None, **clock)
    if is_rollout_step:
        condition = progress.judge(condition, run.replicas, before, run.status, **clock)
    run.condition = condition
