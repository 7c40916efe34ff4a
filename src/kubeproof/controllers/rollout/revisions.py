"""The nouns of a rollout: revisions, resolved fenceposts, and the outcome of one sync.

Mirrors `pkg/controller/deployment/util/deployment_util.go` (v1.26 to v1.37 agree).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from kubeproof.cluster.objects import Strategy
from kubeproof.named_tuples import NamedTuple
from kubeproof.values import dataclass

ABSENT = -1  # an annotation that is not there
FOR_AVAILABLE, FOR_OLD_PODS, FOR_RESUME = "available pods", "the end of old pods", "the end of a pause"  # what waits


class Revision(NamedTuple):
    """One ReplicaSet of a Deployment, as the Deployment controller reads it."""

    size: int  # spec.replicas
    available: int  # status.availableReplicas
    exists: int  # status.replicas: active pods
    desired_note: int = ABSENT  # annotation desired-replicas
    max_note: int = ABSENT  # annotation max-replicas


class Notes(NamedTuple):
    """Both annotations by which a ReplicaSet remembers the Deployment's size when it was last written."""

    desired: int
    max: int


def resolve(strategy: Strategy, replicas: int) -> tuple[int, int]:
    """(surge, unavailable) in pods: surge rounds up, unavailable down, and both are never 0 together.

    MaxUnavailable is at most `replicas`; a Recreate strategy has neither.
    """
    if not strategy.rolling:
        return 0, 0
    surge = -(-strategy.max_surge * replicas // 100) if strategy.surge_percent else strategy.max_surge
    unavailable = strategy.max_unavailable
    if strategy.unavailable_percent:
        unavailable = unavailable * replicas // 100
    if surge == 0 and unavailable == 0:
        unavailable = 1  # percentages that round to nothing would stop every rollout
    return surge, min(unavailable, replicas)


Write = tuple[int, int]  # index of a revision and its size from then on; a created one has the index after the last


@dataclass(frozen=True, slots=True)
class RolloutWrites:
    """What one sync writes; sizes and notes are those of the revisions given, in their order."""

    sizes: tuple[int, ...]
    notes: tuple[Notes, ...]
    writes: tuple[Write, ...]  # in upstream's order
    what: str  # the decision and its numbers, or what is waited for
    created: int | None = None  # initial size of a newly created new revision
    created_notes: Notes | None = None
    waits: str = ""  # for what, where nothing is written and more is to be done: one of the words below

    @property
    def changed(self) -> bool:
        """Whether something is written: a size, an annotation, or a new ReplicaSet."""
        return bool(self.writes)


class Rollout(NamedTuple):
    """A Deployment's side of one sync, with the fenceposts in pods."""

    replicas: int
    surge: int
    unavailable: int
    rolling: bool
    revisions: tuple[Revision, ...]  # oldest first
    new: int | None  # index of the revision with the Deployment's template
    reported: int  # status.replicas

    @property
    def most(self) -> int:
        """Upper bound on the sum of sizes, also what the max-replicas annotation says."""
        return self.replicas + self.surge

    @property
    def least(self) -> int:
        """How many pods a rolling step keeps available."""
        return self.replicas - self.unavailable

    @property
    def total(self) -> int:
        """Sum of all sizes; terminating pods are in none of them."""
        return sum(revision.size for revision in self.revisions)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(revision.size for revision in self.revisions)

    @property
    def active(self) -> tuple[int, ...]:
        """Indices of revisions that want pods."""
        return tuple(index for index, revision in enumerate(self.revisions) if revision.size > 0)

    @property
    def active_old(self) -> tuple[int, ...]:
        return tuple(index for index in self.active if index != self.new)

    @property
    def notes(self) -> Notes:
        """What every write to a ReplicaSet notes down."""
        return Notes(self.replicas, self.most)


def rollout_of(
    replicas: int, strategy: Strategy, revisions: tuple[Revision, ...], new: int | None, reported: int | None = None
) -> Rollout:
    """The Deployment with its fenceposts resolved for `replicas`; `reported` None: its status is up to date."""
    if reported is None:
        reported = sum(revision.exists for revision in revisions)
    return Rollout(replicas, *resolve(strategy, replicas), strategy.rolling, revisions, new, reported)


def write_sizes(
    rollout: Rollout,
    sizes: Sequence[int],
    what: str,
    *,
    renoted: Collection[int] = (),
    order: Sequence[int] | None = None,
) -> RolloutWrites:
    """The outcome of setting `sizes`: annotations are rewritten with a new size, and on all of `renoted`.

    What changes is written in the `order` given, or oldest first.
    """
    notes = tuple(
        rollout.notes if size != revision.size or index in renoted else notes_of(revision)
        for index, (size, revision) in enumerate(zip(sizes, rollout.revisions, strict=True))
    )
    changed = {
        index
        for index, revision in enumerate(rollout.revisions)
        if (sizes[index], notes[index]) != (revision.size, notes_of(revision))
    }
    ordered = range(len(sizes)) if order is None else order
    return RolloutWrites(
        tuple(sizes), notes, tuple((index, sizes[index]) for index in ordered if index in changed), what
    )


def notes_of(revision: Revision) -> Notes:
    """The annotations a revision carries."""
    return Notes(revision.desired_note, revision.max_note)


def after(revisions: Sequence[Revision], outcome: RolloutWrites) -> tuple[Revision, ...]:
    """The revisions once the outcome is written, a created one last; statuses lag behind."""
    kept = tuple(
        Revision(size, revision.available, revision.exists, *notes)
        for revision, size, notes in zip(revisions, outcome.sizes, outcome.notes, strict=True)
    )
    if outcome.created is None or outcome.created_notes is None:
        return kept
    return (*kept, Revision(outcome.created, 0, 0, *outcome.created_notes))
