"""How an event is written in a Scenario, and what it means: told once, beside the event.

Readers, `kubeproof explain`, the reference page and the timetable of simulations are derived from it.
"""

from __future__ import annotations

from enum import Enum, auto

from kubeproof.values import dataclass


class FieldType(Enum):
    """What a field of an event holds, as far as all events write it alike."""

    FLAG = auto()
    COUNT = auto()  # a whole number from 1 on
    WORD = auto()  # one of `words`
    LABEL_KEY = auto()
    NODES = auto()
    TARGET = auto()  # the workload that it is about; absent: one event for each that can be meant
    OWN = auto()  # the event's own reader knows


@dataclass(frozen=True, slots=True)
class Field:
    """One field: its key in a Scenario, the attribute of the event that holds it, and its default."""

    key: str
    type: FieldType = FieldType.OWN
    attribute: str = ""
    default: object = None
    words: tuple[str, ...] = ()
    note: str = ""  # what is told beside the key; "": the default

    @property
    def described(self) -> str:
        """The field as the documentation lists it."""
        default = str(self.default).lower() if isinstance(self.default, bool) else self.default
        note = self.note or ("" if default is None else str(default))
        return f"{self.key} ({note})" if note else self.key


def flag(key: str, attribute: str = "", *, default: bool = False, note: str = "") -> Field:
    """A field that is true or false."""
    return Field(key, FieldType.FLAG, attribute or key, default, note=note)


def count(key: str, default: int = 1) -> Field:
    """A field that counts from 1 on."""
    return Field(key, FieldType.COUNT, key, default)


NODES = Field("nodes", FieldType.NODES, "nodes")
TARGET = Field("target", FieldType.TARGET, "target")


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """One key of `spec.events`."""

    key: str
    text: str  # what happens
    fields: tuple[Field, ...]
    example: str  # an entry of spec.events
    settings: tuple[tuple[str, object], ...] = ()  # what the key itself says of the event's attributes
    is_unlimited: bool = False  # `max: unlimited` is allowed
    is_timed: bool = False  # may stand in a timetable, where it happens at its moment

    @property
    def is_plain(self) -> bool:
        """True if its fields are all that there is to read."""
        return all(field.type is not FieldType.OWN for field in self.fields)

    @property
    def described_fields(self) -> str:
        """Its fields with their defaults, in one line."""
        return ", ".join(field.described for field in self.fields)
