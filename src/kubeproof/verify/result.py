"""The finished result of a verification: what reports are made from."""

from __future__ import annotations

import builtins
from dataclasses import field
from typing import TYPE_CHECKING

from kubeproof.cluster.loops.actions import Verb
from kubeproof.cluster.loops.actors import Actor
from kubeproof.cluster.loops.meanings import SET
from kubeproof.cluster.objects import Source
from kubeproof.engine.stopped import INTERRUPTED, StoppedBy
from kubeproof.manifests.loaded import Group
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.facts import Fact

if TYPE_CHECKING:
    from kubeproof.verify.answered import Answered
    from kubeproof.verify.dependence import DependsOn
    from kubeproof.verify.explained import Causes, Explanation, Inaction, Repair
    from kubeproof.verify.holds_for import HoldsFor
    from kubeproof.verify.matrix.result import Matrix
    from kubeproof.verify.scaling.result import Sweep


@dataclass(frozen=True, slots=True)
class Change:
    """What a step makes of one field; with no field, of the object itself: created, deleted, a node cordoned."""

    object: str  # "Pod/shop/web-2", "ReplicaSet of Deployment/shop/web"
    field: str  # "spec.nodeName"; "": the object
    value: str

    @property
    def place(self) -> str:
        """The object and its field."""
        return f"{self.object} {self.field}" if self.field else self.object

    def __str__(self) -> str:
        is_plain = not self.value or not self.field or self.value == SET
        return f"{self.place} {self.value}".rstrip() if is_plain else f"{self.place} = {self.value}"


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One step of a counterexample, with real names."""

    actor: Actor  # "scheduler web", "event nodeFailure-1": text that knows its kind and its object
    action: str  # "binds shop/web-2 to node-b"
    object: str  # "Pod/shop/web-2"
    changes: tuple[Change, ...]  # "Pod/shop/web-2 spec.nodeName = node-b"
    time_s: int  # seconds since the start of the run
    why: tuple[str, ...] = ()  # the numbers behind the decision, shown on -v
    code: tuple[builtins.object, ...] = ()  # machine form that `replay` re-executes
    holds: tuple[str, ...] | None = None  # of an `ltl` intent: the propositions that are true after the step
    counts: str = ""  # of an intent about domains: the pods in each after the step, where it changes them

    @property
    def verbs(self) -> tuple[str, ...]:
        """What kinds of actions the step consists of; what loops remember by it is none."""
        found = (str(action[0]) for action in self.code if isinstance(action, tuple) and action)
        return tuple(verb for verb in found if verb != Verb.REMEMBER)


@dataclass(frozen=True, slots=True)
class Trace:
    """A counterexample: a path, with `loop_start` a lasso (index of the first step of the loop)."""

    steps: tuple[TraceStep, ...]
    loop_start: int | None = None
    loop_certainty: str = ""  # "inevitable" or "possible" for loops
    final: tuple[Fact, ...] = ()  # what is wrong in the last state, e.g. the reason per node
    deployed_steps: int = 0  # the first so many steps only lead to the start (`start: deployed`)
    propositions: tuple[tuple[str, str], ...] = ()  # of an `ltl` intent: each with its predicate
    begins_with: tuple[str, ...] = ()  # those that are true in the first state
    obstacles: tuple[tuple[str, str], ...] = ()  # what holds pods back in the last state: who, with the reason it gives
    is_shortest: bool = True  # False of a run that was found by walking: a shorter one may exist
    inaction: tuple[Inaction, ...] = ()  # who could have helped and does not, by which rule


@dataclass(frozen=True, slots=True)
class Suppression:
    """Who accepted a violation, and why."""

    kind: str  # "exemption" of the settings file, "annotation" of an object, "baseline"
    reason: str
    source: Source
    expires: str = ""  # ISO date; "": never


@dataclass(frozen=True, slots=True)
class SuppressionNote:
    """What became of one exemption, annotation or line of a baseline: the audit trail."""

    suppression: Suppression
    id: str  # property it speaks of
    target: str
    status: str  # "used", "unused", "expired", "no reason"


@dataclass(frozen=True, slots=True)
class IntentResult:
    """The answer to one intent."""

    id: str  # permanent property ID, "S001"
    intent: str  # name
    key: str
    target: str
    verdict: Verdict
    detail: str  # one sentence: what was found or proved
    nodes: int
    pods: int
    states: int
    transitions: int
    trace: Trace | None = None
    remedy: str = ""  # what to change, as far as the run tells
    explanation: Explanation | None = None  # of a violation, in three sentences
    causes: Causes | None = None  # of a violation, where somebody asked for them
    repairs: tuple[Repair, ...] = ()  # with --fix
    sources: tuple[tuple[str, Source], ...] = ()  # (object ref, place) of objects involved
    location: Source = Source()
    size: tuple[tuple[str, int], ...] = ()  # nodes of each kind, then pods of each workload, where a sweep chose them
    severity: str = "error"  # of the intent: error, warning or info
    suppression: Suppression | None = None  # of a SUPPRESSED result
    faults: tuple[str, ...] = ()  # of a cell of the survival matrix: what happens in its runs
    stopped_by: StoppedBy | None = field(default=None, compare=False)  # of UNKNOWN: what ended its search
    strategy: Answered | None = None  # who answered, and why others before did not; None: it was not noted
    depends_on: DependsOn | None = None  # what of the input decides; None: not decided, or not asked for
    holds_for: HoldsFor | None = None  # other sizes of the input at which it holds, too; None: not known of any

    @property
    def is_decisive(self) -> bool:
        """False for what a matrix tells beyond its question: dips that are good enough, and pairs of faults."""
        is_good_enough = self.verdict in (Verdict.VIOLATED, Verdict.SUPPRESSED) and self.severity != "error"
        is_asked = len(self.faults) == 1 and not is_good_enough
        return not self.faults or self.verdict == Verdict.ERROR or is_asked


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """What a check found that looks at the manifests alone, without any search."""

    id: str  # permanent, "K001"
    key: str  # of the check: "unknown-field"
    severity: str  # error (the API server refuses it, or it can never work), warning or info
    target: str  # object ref: "PodDisruptionBudget/shop/web"
    message: str  # one sentence without a full stop: what is wrong, with its numbers
    remedy: str
    source: Source
    also: tuple[tuple[str, Source], ...] = ()  # other objects involved (ref, place)
    suppression: Suppression | None = None  # of a finding that somebody gave a reason to accept


@dataclass(frozen=True, slots=True)
class OmittedGroup:
    """Things of one kind in the input that the model does not take into account."""

    group: Group
    count: int
    may_decide: bool  # about some workload: a verdict that rests on it is not decided


@dataclass(frozen=True, slots=True)
class Statistics:
    """What the search did."""

    states: int = 0
    transitions: int = 0
    depth: int = 0
    elapsed_s: float = 0.0
    memo_calls: int = 0
    memo_misses: int = 0
    engine: str = ""
    reductions: tuple[str, ...] = ()
    stopped_by: StoppedBy | None = None  # what ended the search before its time, None when exhausted
    start_states: int = 0  # of the search for the start (`start: deployed`), not counted in `states`
    acted: tuple[tuple[str, tuple[str, ...]], ...] = ()  # controllers and events that could act, and what they could do
    idle: tuple[str, ...] = ()  # those that never could
    refused: tuple[str, ...] = ()  # filters of schedulers that refused a node: "scheduler web: NodeAffinity"
    unused: tuple[str, ...] = ()  # those that refused none

    @property
    def is_interrupted(self) -> bool:
        """True if somebody asked the search to end."""
        return self.stopped_by == INTERRUPTED


@dataclass(frozen=True, slots=True)
class VerifyResult:
    """One verification of one scenario."""

    scenario: str
    verdict: Verdict  # the worst of the intents' verdicts
    scope: tuple[tuple[str, str], ...]  # printed pairs: nodes, workloads, events, version, abstractions
    results: tuple[IntentResult, ...]
    not_modelled: tuple[str, ...]  # "field … (file:line)"
    statistics: Statistics
    inputs: tuple[tuple[str, str], ...] = ()  # (file name, text) of all that was read, for `replay`
    sweep: Sweep | None = None  # every size that was looked at; None: the size in the manifests alone
    suppressions: tuple[SuppressionNote, ...] = ()  # every reason somebody gave, used or not
    checks: tuple[CheckFinding, ...] = ()  # what needed no search, in order of severity, then of the input
    omitted: tuple[OmittedGroup, ...] = ()  # what `not_modelled` lists, by kind
    matrix: Matrix | None = None  # without a Scenario: what each workload survives; `results` has one entry per cell


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """A counterexample re-executed on individual objects and judged again."""

    scenario: str
    intent: str
    steps: tuple[TraceStep, ...]
    loop_start: int | None
    verdict: Verdict  # VIOLATED when the replay confirms the counterexample
    detail: str
    final: tuple[Fact, ...]
    deployed_steps: int = 0
    propositions: tuple[str, ...] = ()  # of an `ltl` intent
    begins_with: tuple[str, ...] = ()  # those that are true in the first state
