"""Why a counterexample happens, as values: who does not help, what is needed for it, and three sentences about it."""

from __future__ import annotations

from collections.abc import Sequence

from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.inaction import Field, Numbers
from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass


@dataclass(frozen=True, slots=True)
class Inaction:
    """Who could have helped and does not, by which rule."""

    actor: Actor
    object: str  # what it leaves as it is, by reference; "": the cluster
    rule: str  # as `kubeproof explain` knows it
    says: str  # a clause whose subject is the actor, with its numbers
    change: str = ""  # what would let it act
    numbers: Numbers = ()
    step: int | None = None  # after so many steps of the trace; None: in the end
    fields: tuple[Field, ...] = ()  # what the change would write


@dataclass(frozen=True, slots=True)
class Cause:
    """A field or an event without which the run would not be."""

    object: str  # by reference, or the event by name
    field: str  # "spec.template.spec.containers[0].resources.requests.cpu"; "": an event
    value: str  # what is written there; "": nothing is
    place: Source
    instead: str  # what was tried in its place
    decides: bool  # with that it is not broken any more; False: only this run is gone, or nobody knows


@dataclass(frozen=True, slots=True)
class Causes:
    """What was found by trying one thing after the other."""

    needed: tuple[Cause, ...] = ()  # those that decide first
    lost_after: int | None = None  # steps of the trace after which every run breaks the intent; None: not known
    is_exact: bool = True  # False: it may have been lost before
    tried: int = 0  # changes of single fields and events
    is_complete: bool = True  # False: the time was over
    core: tuple[Cause, ...] = ()  # enough together: with all else that was tried written otherwise it still happens
    together: tuple[Cause, ...] = ()  # where none decides alone: some that do so together


MOST_PLACES = 3  # of one thing to do


@dataclass(frozen=True, slots=True)
class Remedy:
    """One thing to do, with the fields that it would write."""

    says: str  # a clause
    fields: tuple[Field, ...] = ()
    rule: str = ""  # by which a loop asks for it; "": it ends a loop of several, or nobody asks
    places: tuple[Source, ...] = ()  # of the fields, as far as they are written in files

    @property
    def cited(self) -> str:
        """The clause with its places."""
        places = list(dict.fromkeys(map(str, self.places)))[:MOST_PLACES]
        return f"{self.says} ({', '.join(places)})" if places else self.says


@dataclass(frozen=True, slots=True)
class Repair:
    """A change of the input that is proved to mend a violation and to spoil nothing."""

    number: int  # as `kubeproof fix --choose` takes it
    edits: tuple[str, ...]
    gives_up: tuple[str, ...]
    costs: str
    diff: str  # of files that can be changed in place
    patch: str  # for kustomize


@dataclass(frozen=True, slots=True)
class Explanation:
    """Three sentences that a colleague understands who was not there."""

    happens: str
    why: tuple[str, ...]  # clauses, the most telling first
    change: str
    changes: tuple[Remedy, ...] = ()  # of which the sentence is made


def tell_changes(changes: Sequence[Remedy]) -> str:
    """What to change, as a sentence."""
    return as_sentence("; or ".join(one.cited for one in changes))


def as_sentence(text: str) -> str:
    """With a capital letter and a full stop."""
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text else ""
