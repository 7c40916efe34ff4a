"""What holds for every rollout, whatever the sizes, the strategy and the moment."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from kubeproof.cluster.objects import Strategy
from kubeproof.controllers.rollout.revisions import Revision, RolloutWrites, after, resolve
from kubeproof.controllers.rollout.sync import sync

amounts = st.tuples(st.integers(0, 6), st.just(False)) | st.tuples(st.integers(0, 100), st.just(True))


@st.composite
def rolling(draw: st.DrawFn) -> Strategy:
    (surge, surge_percent), (unavailable, unavailable_percent) = draw(amounts), draw(amounts)
    return Strategy(True, surge, surge_percent, unavailable, unavailable_percent)


@st.composite
def middle(draw: st.DrawFn, replicas: int, most: int, replica_sets: int) -> tuple[Revision, ...]:
    """Revisions in the middle of a rollout, statuses up to date."""
    sizes = draw(st.lists(st.integers(0, replicas), min_size=replica_sets, max_size=replica_sets))
    available = [draw(st.integers(0, size)) for size in sizes]
    return tuple(Revision(size, up, size, replicas, most) for size, up in zip(sizes, available, strict=True))


@st.composite
def moments(draw: st.DrawFn) -> tuple[int, Strategy, tuple[Revision, ...], int | None]:
    replicas, strategy, count = draw(st.integers(0, 12)), draw(rolling()), draw(st.integers(0, 3))
    revisions = draw(middle(replicas, replicas + resolve(strategy, replicas)[0], count))
    new = draw(st.none() | st.integers(0, count - 1)) if count else None
    return replicas, strategy, revisions, new


def total(revisions: tuple[Revision, ...]) -> int:
    return sum(revision.size for revision in revisions)


def surviving(revisions: tuple[Revision, ...], written: tuple[Revision, ...]) -> int:
    """Available pods once the ReplicaSet controller deleted the surplus, unavailable ones first."""
    return sum(min(old.available, new.size) for old, new in zip(revisions, written, strict=False))


@given(moments())
def test_a_rolling_step_never_exceeds_replicas_plus_surge(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None],
) -> None:
    replicas, strategy, revisions, new = moment
    bound = replicas + resolve(strategy, replicas)[0]

    written = after(revisions, sync(replicas, strategy, False, revisions, new, True))

    assert total(written) <= max(bound, total(revisions))


@given(moments())
def test_a_rolling_step_never_takes_availability_below_its_minimum(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None],
) -> None:
    replicas, strategy, revisions, new = moment
    least = replicas - resolve(strategy, replicas)[1]
    available = sum(revision.available for revision in revisions)

    written = after(revisions, sync(replicas, strategy, False, revisions, new, True))

    assert surviving(revisions, written) >= min(available, least)


@given(moments())
def test_only_the_new_revision_grows_in_a_rolling_step(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None],
) -> None:
    replicas, strategy, revisions, new = moment

    outcome = sync(replicas, strategy, False, revisions, new, True)

    grown = {index for index, size in enumerate(outcome.sizes) if size > revisions[index].size}
    assert grown <= {new}


@given(moments())
def test_an_outcome_without_change_leaves_everything(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None],
) -> None:
    replicas, strategy, revisions, new = moment

    outcome = sync(replicas, strategy, False, revisions, new, True)

    assert outcome.changed == (after(revisions, outcome) != revisions)


def followed(revisions: tuple[Revision, ...]) -> tuple[Revision, ...]:
    """All ReplicaSets have their pods, and all are available."""
    return tuple(revision._replace(available=revision.size, exists=revision.size) for revision in revisions)


def syncs_to_the_end(
    replicas: int, strategy: Strategy, revisions: tuple[Revision, ...], new: int | None
) -> tuple[int, tuple[int, ...]]:
    """How many syncs write something until none does, and the sizes then, if pods always turn available."""
    for count in range(200):
        outcome = sync(replicas, strategy, False, revisions, new, False)
        if not outcome.changed:
            return count, outcome.sizes
        if outcome.created is not None:
            new = len(revisions)
        revisions = followed(after(revisions, outcome))
    raise AssertionError("no end")


def finished(replicas: int, count: int, new: int | None) -> tuple[int, ...]:
    target = count if new is None else new
    return tuple(replicas if index == target else 0 for index in range(max(count, target + 1)))


@given(moments(), st.booleans())
def test_a_rollout_whose_pods_turn_available_ends_with_all_replicas_new(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None], recreate: bool
) -> None:
    replicas, strategy, revisions, new = moment
    strategy = Strategy(rolling=False) if recreate else strategy

    count, sizes = syncs_to_the_end(replicas, strategy, followed(revisions), new)

    assert sizes == finished(replicas, len(revisions), new)
    assert count <= 2 * total(revisions) + 2 * replicas + 2


@given(moments(), st.integers(0, 12))
def test_a_rollout_ends_although_replicas_changed_on_its_way(
    moment: tuple[int, Strategy, tuple[Revision, ...], int | None], desired: int
) -> None:
    """One active ReplicaSet that has the new size by chance keeps its stale annotation: left out."""
    replicas, strategy, revisions, new = moment
    active = [revision.size for revision in revisions if revision.size]
    assume(desired == replicas or active != [desired])

    _, sizes = syncs_to_the_end(desired, strategy, followed(revisions), new)

    assert sizes == finished(desired, len(revisions), new)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=4), st.integers(0, 6), st.integers(0, 30), rolling())
def test_scaling_in_mid_rollout_reaches_replicas_plus_surge_exactly(
    sizes: list[int], missing: int, desired: int, strategy: Strategy
) -> None:
    replicas = sum(sizes) + missing
    assume(desired != replicas)
    most = replicas + resolve(strategy, replicas)[0]
    revisions = tuple(Revision(size, size, size, replicas, most) for size in sizes)

    outcome = sync(desired, strategy, False, revisions, 0, True)

    assert sum(outcome.sizes) == (desired + resolve(strategy, desired)[0] if desired else 0)
    assert min(outcome.sizes) >= 0


def never_available(revisions: tuple[Revision, ...], broken: int) -> tuple[Revision, ...]:
    return tuple(
        revision._replace(exists=revision.size, available=0 if index == broken else revision.size)
        for index, revision in enumerate(revisions)
    )


@given(st.integers(1, 12), rolling())
def test_a_rollout_that_never_turns_ready_stops_with_the_minimum_available(replicas: int, strategy: Strategy) -> None:
    surge, unavailable = resolve(strategy, replicas)
    revisions: tuple[Revision, ...] = (Revision(replicas, replicas, replicas, replicas, replicas + surge),)
    new, outcome = None, RolloutWrites((), (), ((0, 0),), "")

    while outcome.changed:
        outcome = sync(replicas, strategy, False, revisions, new, False)
        revisions, new = never_available(after(revisions, outcome), broken=1), 1

    assert outcome.sizes == (replicas - unavailable, min(replicas, surge + unavailable))
