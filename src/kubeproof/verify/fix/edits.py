"""Edits as values: what they change, what they cost, and what they give up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations

from kubeproof.manifests.editing.operations import Operation, Plain
from kubeproof.manifests.editing.written import Written
from kubeproof.values import dataclass

# Costs. They order proposals and the search; only their order means something.
TUNE = 10  # a number or word of an object that steers others
REPLICA = 6  # of each pod more
NEW_OBJECT = 8  # on top: an object that was not there
TRADE = 8  # on top: something is given up, and said
SERVICE = 20  # on top: what workloads ask of nodes, or what they say of themselves, is told differently
CLUSTER = 30  # on top: nodes, or what others rely on as well
LAST = 60  # on top: fewer pods, where nothing else helps
ANOTHER = 12  # of every edit after the first


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that a person would make, of one thing."""

    kind: str  # as --allow and --deny name it
    does: str  # "spec.replicas 2 -> 3"
    changes: tuple[tuple[Written, tuple[Operation, ...]], ...]
    cost: int
    added: tuple[Plain, ...] = ()  # objects that are new
    removed: tuple[Written, ...] = ()  # objects that go
    gives_up: str = ""
    answers: frozenset[str] = frozenset()  # words of counterexamples that it is an answer to
    pods: int = 0  # more than before
    cpu_m: int = 0  # more requested than before, in all
    memory: int = 0

    @property
    def object(self) -> str:
        """What it is about: the first object that it changes."""
        return self.changes[0][0].ref

    @property
    def title(self) -> str:
        return f"{self.object}: {self.does}"

    @property
    def objects(self) -> frozenset[str]:
        """All that it touches."""
        return frozenset(one.ref for one, _ in self.changes)

    def places(self) -> Iterator[tuple[str, Operation]]:
        """The fields that it writes."""
        yield from ((one.ref, operation) for one, operations in self.changes for operation in operations)


def edit(
    kind: str,
    one: Written,
    does: str,
    *operations: Operation,
    cost: int,
    gives_up: str = "",
    answers: Iterable[str] = (),
    added: Iterable[Plain] = (),
    pods: int = 0,
    cpu_m: int = 0,
    memory: int = 0,
) -> Edit:
    """An edit of one object; each further field costs one more."""
    price = cost + max(0, len(operations) - 1)
    return Edit(
        kind, does, ((one, operations),), price, tuple(added), (), gives_up, frozenset(answers), pods, cpu_m, memory
    )


def cost_of(edits: Iterable[Edit]) -> int:
    """What they cost together: fewer edits are better."""
    costs = [one.cost for one in edits]
    return sum(costs) + ANOTHER * (len(costs) - 1)


def are_apart(edits: Iterable[Edit]) -> bool:
    """True if no two of them write the same field, one inside the other, or number the items of one list."""
    return not any(_clash(one, other) for one, other in combinations(edits, 2))


def _clash(one: Edit, other: Edit) -> bool:
    if one.added and any(value in other.added for value in one.added):
        return True
    pairs = ((a, b) for ref, a in one.places() for name, b in other.places() if ref == name)
    return any(_overlap(a, b) for a, b in pairs)


def _overlap(one: Operation, other: Operation) -> bool:
    for number, (a, b) in enumerate(zip(one.path, other.path, strict=False)):
        if a != b:
            is_removing = (one.is_removed and number == len(one.path) - 1) or (
                other.is_removed and number == len(other.path) - 1
            )
            return isinstance(a, int) and isinstance(b, int) and is_removing
    return True
