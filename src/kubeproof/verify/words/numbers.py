"""The numbers behind a decision as values: scores of nodes, the arithmetic of an autoscaler.

What `explain.why` says in words, for reports that draw tables. Asked of the loops themselves, in the state in which
they decided.
"""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actions import Bind
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.cluster.steering.policies import Metric
from kubeproof.controllers.hpa.calculator import Computed, Failure
from kubeproof.controllers.hpa.controller import HpaController
from kubeproof.controllers.scheduler.framework import Row
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.values import dataclass
from kubeproof.verify.words.explain import evaluation, scheduler_of

MOST_ROWS = 40  # nodes of a table; of more, the best and a share of the refused


@dataclass(frozen=True, slots=True)
class ScoreRow:
    """What the scheduler thinks of one node; without scores it is refused, or the only feasible one."""

    node: str
    refused_by: str  # the plugin, empty if feasible
    reason: str
    scores: tuple[int | None, ...]  # one per plugin of the table
    total: int
    is_best: bool  # may be chosen: nobody has more


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """The judgement of every node for a pod; `node` is the one it got, empty if none."""

    pod: str
    node: str
    plugins: tuple[tuple[str, int], ...]  # with their weights
    rows: tuple[ScoreRow, ...]
    omitted: int = 0  # nodes left out of a long table


@dataclass(frozen=True, slots=True)
class MetricRow:
    """What one metric asks for: ceil(ratio x pods), unless `rule` says otherwise."""

    name: str
    measured: int | None  # percent of the request, or thousandths
    target: int
    is_percent: bool
    ratio: float | None
    pods: int
    proposal: int | None  # None: no proposal, see `words`
    rule: str
    words: str


@dataclass(frozen=True, slots=True)
class Autoscaling:
    """One sync of a HorizontalPodAutoscaler."""

    autoscaler: str
    target: str
    current: int
    replicas: int
    least: int
    most: int
    metrics: tuple[MetricRow, ...]
    reasons: tuple[str, ...]  # bounds, windows and rates that had a say


Numbers = ScoreTable | Autoscaling


def numbers_behind(model: IndividualModel, state: State, step: Transition) -> Numbers | None:
    """The numbers behind a step, None if it has none."""
    for action, concrete in zip(step.decision.actions, step.concrete, strict=False):
        if isinstance(action, Bind):
            return _table(model, state, action.workload, str(concrete[1]), str(concrete[2]))
    return _autoscaling(model, state, step) if step.controller.kind == ActorKind.HPA else None


def numbers_at_the_end(model: IndividualModel, state: State) -> Iterator[Numbers]:
    """Why pods without a node have none: one table for each workload that has such pods."""
    for workload, names in enumerate(state.unbound):
        if names:
            table = _table(model, state, workload, names[0], "")
            if table is not None:
                yield table


def _table(model: IndividualModel, state: State, workload: int, pod: str, chosen: str) -> ScoreTable | None:
    scheduler, judged = scheduler_of(model, state, workload), evaluation(model, state, workload)
    if scheduler is None or judged is None:
        return None
    names, verdicts = judged
    weights = scheduler.kernel.weights
    plugins = tuple(dict.fromkeys(name for row in verdicts.rows for name, _ in row.scores))
    best = set(verdicts.chosen)
    rows = [
        _row(name, row, plugins, number in best)
        for number, (name, row) in enumerate(zip(names, verdicts.rows, strict=True))
    ]
    rows.sort(key=lambda row: (row.node != chosen, bool(row.refused_by), -row.total))
    shown = tuple((name, weights.get(name, 1)) for name in plugins)
    return ScoreTable(pod, chosen, shown, tuple(rows[:MOST_ROWS]), max(0, len(rows) - MOST_ROWS))


def _row(name: str, row: Row, plugins: tuple[str, ...], is_best: bool) -> ScoreRow:
    scores = dict(row.scores)
    reason = f"{row.reason} ({row.detail})" if row.detail else row.reason
    return ScoreRow(name, row.rejected_by, reason, tuple(map(scores.get, plugins)), row.total, is_best)


def _autoscaling(model: IndividualModel, state: State, step: Transition) -> Autoscaling | None:
    for loop in model.plan.controllers:
        if isinstance(loop, HpaController) and loop.name == step.controller:
            judged, outcome = loop.consider(model.show_to(loop, state))
            declared = loop.autoscaler
            metrics = () if judged is None else tuple(map(_metric, judged.metrics, judged.computed, judged.words))
            return Autoscaling(
                autoscaler=f"{declared.namespace}/{declared.name}",
                target=declared.target,
                current=state.specs[loop.target].desired,
                replicas=outcome.replicas,
                least=declared.min_replicas,
                most=declared.max_replicas,
                metrics=metrics,
                reasons=outcome.reasons,
            )
    return None


def _metric(metric: Metric, computed: Computed | Failure, words: str) -> MetricRow:
    is_percent = metric.target_type == "Utilization"
    name = f"{metric.name} of {metric.container}" if metric.container else metric.name
    if isinstance(computed, Failure):
        return MetricRow(name, None, metric.value, is_percent, None, 0, None, "", words)
    assumed = computed.assumed
    return MetricRow(
        name=name,
        measured=computed.measured if assumed is None else assumed.measured,
        target=metric.value,
        is_percent=is_percent,
        ratio=computed.ratio if assumed is None else assumed.ratio,
        pods=computed.pods,
        proposal=computed.replicas,
        rule=computed.rule,
        words=words,
    )
