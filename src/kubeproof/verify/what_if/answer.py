"""The finished answer to a what-if question: what reports are made from."""

from __future__ import annotations

from kubeproof.cluster.objects import Source
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.matrix.result import Grade
from kubeproof.verify.result import IntentResult, Statistics, TraceStep


@dataclass(frozen=True, slots=True)
class Effect:
    """What the question does to one workload, in every run."""

    target: str  # "Deployment/shop/web"
    grade: Grade
    detail: str  # one sentence
    replicas: int
    floor: int  # ready pods that it should never be below
    floor_from: str  # the budget that says so; "": one pod, as nobody says more
    lowest: int | None  # the fewest ready pods of any run, where that is known and below the floor
    longest_s: int | None  # the longest time below the floor in the runs that were explored
    result: IntentResult  # with the run that shows it, and what to change
    source: Source = Source()
    alike: str = ""  # the workload of which this was found, and which differs in names alone


@dataclass(frozen=True, slots=True)
class PodMove:
    """A pod on a node of the question, and what becomes of it in the ordinary run."""

    pod: str  # by its real name, where the input has it
    target: str
    node: str
    stays: bool  # it is of a DaemonSet, which drains leave alone
    leaves_s: int | None = None  # when it is told to go; None: never, in that run
    gone_s: int | None = None


@dataclass(frozen=True, slots=True)
class Spell:
    """How long a workload is short of pods in the ordinary run."""

    target: str
    wanted: int
    lowest: int
    short_s: int  # for how long not all are ready
    below_s: int  # for how long fewer than the floor are
    back_s: int | None  # when all are ready again for good; None: not in that run


@dataclass(frozen=True, slots=True)
class OrdinaryRun:
    """One run as it usually goes: everybody acts at once, pods start as fast as they may. It proves nothing."""

    steps: tuple[TraceStep, ...]
    moves: tuple[PodMove, ...]
    spells: tuple[Spell, ...]
    lasts_s: int
    is_whole: bool  # False: it goes on beyond what was followed


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer."""

    question: str  # "drain node-7"
    key: str  # which kind of question
    sentence: str
    verdict: Verdict
    nodes: tuple[str, ...]  # that something happens to
    effects: tuple[Effect, ...]  # worst first
    worst: Effect | None  # the one with the run to look at; None: no run is bad
    ordinary: OrdinaryRun | None
    untouched: int  # workloads that nothing of it touches
    scope: tuple[tuple[str, str], ...]
    not_modelled: tuple[str, ...]
    notes: tuple[str, ...]  # what was taken to be so
    statistics: Statistics
    elapsed_s: float

    def count(self, grade: Grade) -> int:
        """How many workloads have the grade."""
        return sum(one.grade == grade for one in self.effects)
