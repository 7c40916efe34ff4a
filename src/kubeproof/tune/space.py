"""What may be set to what: all combinations of the values of some knobs."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod
from random import Random

from kubeproof.values import dataclass

Setting = tuple[int, ...]  # of each knob the number of its value
MOST_LISTED = 4096  # settings that are looked at one by one; of more a sample


@dataclass(frozen=True, slots=True)
class Knob:
    """One field with the values that it may take, from one end to the other."""

    key: str  # HorizontalPodAutoscaler/shop/web.targetCPU
    values: tuple[str, ...]
    now: int  # which of them the input has


@dataclass(frozen=True, slots=True)
class Space:
    """All settings."""

    knobs: tuple[Knob, ...]

    @property
    def size(self) -> int:
        """How many settings there are."""
        return prod(len(knob.values) for knob in self.knobs)

    @property
    def current(self) -> Setting:
        """What the input has."""
        return tuple(knob.now for knob in self.knobs)

    def all(self) -> Iterator[Setting]:
        """Every setting."""
        return product(*(range(len(knob.values)) for knob in self.knobs))

    def place(self, setting: Setting) -> tuple[float, ...]:
        """Where a setting lies, from 0 to 1 in each direction."""
        return tuple(
            at / (len(knob.values) - 1) if len(knob.values) > 1 else 0.0
            for at, knob in zip(setting, self.knobs, strict=True)
        )

    def neighbours(self, setting: Setting) -> Iterator[Setting]:
        """The settings that differ by one step of one knob."""
        for number, knob in enumerate(self.knobs):
            for step in (-1, 1):
                if 0 <= setting[number] + step < len(knob.values):
                    yield (*setting[:number], setting[number] + step, *setting[number + 1 :])

    def draw(self, rng: Random) -> Setting:
        """Any setting."""
        return tuple(rng.randrange(len(knob.values)) for knob in self.knobs)

    def describe(self, setting: Setting) -> tuple[tuple[str, str], ...]:
        """The keys with their values."""
        return tuple((knob.key, knob.values[at]) for knob, at in zip(self.knobs, setting, strict=True))

    def count_changes(self, setting: Setting) -> int:
        """In how many knobs it differs from the input."""
        return sum(at != knob.now for at, knob in zip(setting, self.knobs, strict=True))
