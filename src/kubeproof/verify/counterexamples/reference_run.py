"""The same verdicts from the reference search: named objects, no reductions, no traces."""

from __future__ import annotations

import time

from kubeproof.engine.limits import Limits
from kubeproof.engine.reference import judge, reach
from kubeproof.engine.stopped import StoppedBy
from kubeproof.manifests.loaded import Loaded
from kubeproof.model.by_name.state import State
from kubeproof.model.by_name.system import IndividualModel
from kubeproof.model.grouped import GroupedSystem
from kubeproof.model.plan import Plan
from kubeproof.stop import Stop
from kubeproof.verify.no_placement import no_placement
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.words.reference import judge_word
from kubeproof.verify.words.summary import intent_result

DEFAULT_MAX_STATES = 1_000_000  # plain Python objects: about 1 GB


class _From:
    """The individual model, begun elsewhere."""

    def __init__(self, model: IndividualModel, starts: tuple[State, ...]) -> None:
        self._starts = starts
        self.steps, self.flags = model.steps, model.flags

    def initial(self) -> tuple[State, ...]:
        return self._starts


def reference_results(
    loaded: Loaded, plan: Plan, options: VerifyOptions, stop: Stop | None = None
) -> tuple[list[IntentResult], Statistics]:
    """One result per intent, and what the search did."""
    begun = time.monotonic()
    most = options.max_states or DEFAULT_MAX_STATES
    limits = Limits(most, options.timeout_s, options.memory_bytes, stop=stop or Stop())
    model = IndividualModel(plan)
    begins, deploying_stopped_by = starts(loaded, plan, model, limits)
    graph = reach(_From(model, begins), max_states=most, limits=limits, start=begun)
    graph.stopped_by = graph.stopped_by or deploying_stopped_by
    statistics = Statistics(
        states=len(graph.steps),
        transitions=graph.transitions,
        elapsed_s=time.monotonic() - begun,
        engine="reference",
        stopped_by=graph.stopped_by,
    )
    verdicts = [
        judge(graph, check, model.flags)
        if monitor.temporal is None
        else judge_word(model, graph, begins, monitor.temporal)
        for check, monitor in zip(GroupedSystem(plan).checks, plan.monitors, strict=True)
    ]
    return [intent_result(loaded, plan, i, v, statistics) for i, v in enumerate(verdicts)], statistics


def starts(
    loaded: Loaded, plan: Plan, model: IndividualModel, limits: Limits
) -> tuple[tuple[State, ...], StoppedBy | None]:
    """The named states a run begins in, and what kept others from being found (None: nothing)."""
    if loaded.scenario.start.mode != "deployed":
        return model.initial(), None
    most = limits.max_states or DEFAULT_MAX_STATES
    graph = reach(IndividualModel(plan.deploying()), max_states=most, limits=limits)
    stable = [state for state in graph.steps if not graph.steps[state]]
    if not stable and graph.is_complete:
        raise no_placement(loaded)
    return tuple(dict.fromkeys(model.restart(state) for state in stable)), graph.stopped_by
