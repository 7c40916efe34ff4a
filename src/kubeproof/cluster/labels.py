"""Label selectors, taints and tolerations, with upstream's matching rules.

Mirrors `k8s.io/apimachinery/pkg/labels` and `k8s.io/component-helpers/scheduling/corev1`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from kubeproof.errors import FootprintError
from kubeproof.values import dataclass

One = TypeVar("One")
Labels = tuple[tuple[str, str], ...]  # sorted by key, unique keys

_DECIMAL = re.compile(r"[-+]?[0-9]{1,64}", re.ASCII)

NO_SCHEDULE = "NoSchedule"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
NO_EXECUTE = "NoExecute"


def _integer(text: str) -> int | None:
    """The integer that upstream's parser reads: 64 bits, decimal, without the underscores that `int` would skip."""
    if not _DECIMAL.fullmatch(text):
        return None
    value = int(text)
    return value if -(2**63) <= value < 2**63 else None


@dataclass(frozen=True, slots=True)
class Requirement:
    """One `matchExpressions` entry: key, operator and values."""

    key: str
    operator: str  # In, NotIn, Exists, DoesNotExist; node terms also Gt, Lt
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True if the labels satisfy the requirement.

        NotIn and DoesNotExist match an absent key, as upstream.
        """
        value = labels.get(self.key)
        if self.operator == "In":
            return value is not None and value in self.values
        if self.operator == "NotIn":
            return value is None or value not in self.values
        if self.operator == "Exists":
            return value is not None
        if self.operator == "DoesNotExist":
            return value is None
        return self._compares(value)

    def _compares(self, value: str | None) -> bool:
        """Gt and Lt: both sides must be integers, otherwise no match."""
        if value is None or len(self.values) != 1:
            return False
        left, right = _integer(value), _integer(self.values[0])
        if left is None or right is None:
            return False
        return left > right if self.operator == "Gt" else left < right


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A conjunction of requirements; without any it matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        """True if every requirement is satisfied."""
        return all(requirement.matches(labels) for requirement in self.requirements)

    @property
    def is_empty(self) -> bool:
        return not self.requirements


@dataclass(frozen=True, slots=True)
class NodeTerm:
    """One node selector term: expressions over labels and over `metadata.name`, all AND-ed."""

    expressions: tuple[Requirement, ...] = ()
    fields: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str], name: str) -> bool:
        """True if the node satisfies the term; an empty term matches no node."""
        if not self.expressions and not self.fields:
            return False
        return all(r.matches(labels) for r in self.expressions) and all(
            r.matches({"metadata.name": name}) for r in self.fields
        )


@dataclass(frozen=True, slots=True)
class PreferredTerm:
    """A preferred node affinity term with its weight (1 to 100)."""

    weight: int
    term: NodeTerm


@dataclass(frozen=True, slots=True)
class Taint:
    """A node taint."""

    key: str
    value: str = ""
    effect: str = NO_SCHEDULE


@dataclass(frozen=True, slots=True)
class Toleration:
    """A pod toleration; `seconds` is `tolerationSeconds`, None for ever."""

    key: str = ""
    operator: str = "Equal"
    value: str = ""
    effect: str = ""
    seconds: int | None = None

    def tolerates(self, taint: Taint) -> bool:
        """True if this toleration covers the taint (semantics section 0.5)."""
        if self.effect and self.effect != taint.effect:
            return False
        if self.key and self.key != taint.key:
            return False
        return self.operator == "Exists" or self.value == taint.value


def tolerates_all(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...]) -> bool:
    """True if every taint is covered by some toleration."""
    return all(any(t.tolerates(taint) for t in tolerations) for taint in taints)


def as_labels(mapping: Mapping[str, str]) -> Labels:
    """The mapping as a sorted tuple of pairs, fit for frozen values."""
    return tuple(sorted(mapping.items()))


NOBODY = "nobody"


class MentionedLabels(tuple[tuple[str, str], ...]):
    """Labels of a node of which only some may be read: those that are not mentioned do not tell nodes apart."""

    readable: frozenset[str]
    reader: str  # who mentions them; NOBODY: all that read nodes, together

    def __new__(cls, labels: Labels, keys: frozenset[str], reader: str = NOBODY) -> MentionedLabels:
        made = super().__new__(cls, labels)
        made.readable, made.reader = keys, reader
        return made

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for key, value in super().__iter__():
            if self.reader != NOBODY:
                self.check(key)
            yield key, value

    def __reduce__(self) -> tuple[type[MentionedLabels], tuple[Labels, frozenset[str], str]]:
        return MentionedLabels, (tuple(tuple.__iter__(self)), self.readable, self.reader)

    def check(self, key: object) -> None:
        """Raises FootprintError for a label that is not mentioned."""
        if key not in self.readable:
            mentions = "mentions" if self.reader == NOBODY else "does not mention"
            raise FootprintError(f"E700 the label {key} of nodes is read, and {self.reader} {mentions} it")


class GuardedMap(dict[str, One]):
    """A dictionary that asks whether a key may be read."""

    def __init__(self, items: Iterable[tuple[str, One]], check: Callable[[object], None]) -> None:
        super().__init__(items)
        self._check = check

    def __getitem__(self, key: str) -> One:
        self._check(key)
        return super().__getitem__(key)

    def __contains__(self, key: object) -> bool:
        self._check(key)
        return super().__contains__(key)

    def __iter__(self) -> Iterator[str]:
        for key in super().__iter__():
            self._check(key)
            yield key

    def keys(self) -> Any:
        """The keys, all of which are read."""
        return list(self)

    def items(self) -> Any:
        """The keys with their values."""
        return [(key, super(GuardedMap, self).__getitem__(key)) for key in self]

    def values(self) -> Any:
        """The values of all keys."""
        return [value for _, value in self.items()]

    def get(self, key: str, default: Any = None) -> Any:
        """The value, or the default."""
        self._check(key)
        return super().get(key, default)


def as_map(labels: Labels) -> dict[str, str]:
    """Labels by key."""
    if isinstance(labels, MentionedLabels):
        return GuardedMap(tuple.__iter__(labels), labels.check)
    return dict(labels)
