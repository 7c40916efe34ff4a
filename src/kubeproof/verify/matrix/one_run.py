"""One run of the deployment of everybody: whoever is not complete where it comes to rest is stuck.

Workloads that share a quota, a budget or a selector are searched together, and where they are many no search comes to
its end. But one run tells of all of them at once. It is found by name: whoever has something urgent to do does it, and
if nobody has, time goes on; nothing happens that does not have to. It is replayed on the model that remembers nothing,
as every counterexample is. That a workload is complete in it says nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from kubeproof.cluster.loops.control import Role
from kubeproof.errors import LimitReached
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.scenarios.matrix_columns import DEPLOY, lasting_intent, rows_of, under_faults
from kubeproof.model.by_name.remembering import RememberingModel
from kubeproof.model.by_name.representatives import RepresentativeModel
from kubeproof.model.by_name.state import State, Transition
from kubeproof.model.plan import Plan
from kubeproof.values import dataclass
from kubeproof.verdicts import Verdict
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.counterexamples.replayer import Look
from kubeproof.verify.counterexamples.traces import make_traces
from kubeproof.verify.options import SLICING, VerifyOptions
from kubeproof.verify.planning import plan_input
from kubeproof.verify.proofs.slicing import cut_by_relations
from kubeproof.verify.result import IntentResult, Statistics
from kubeproof.verify.words.summary import intent_result

MANY_WORKLOADS = 8  # that hang together; fewer are searched
MOST_STEPS = 20_000


@dataclass(frozen=True, slots=True)
class OneRun:
    """The deployment of everybody, and what its end is for each workload that is not complete there."""

    loaded: Loaded
    plan: Plan
    stuck: dict[str, IntentResult]  # by reference


def list_crowded(loaded: Loaded, targets: Sequence[str], options: VerifyOptions) -> tuple[str, ...]:
    """The targets whose deployment would be searched together with that of many others."""
    if not targets or not options.uses(SLICING) or options.controllers:
        return ()
    parts = [one.workloads for one in cut_by_relations(under_faults(loaded, (DEPLOY,), targets[0]))]
    together = parts or [tuple(one.ref for one in rows_of(loaded.setup))]
    large = {ref for part in together if len(part) > MANY_WORKLOADS for ref in part}
    return tuple(ref for ref in targets if ref in large)


def deploy_once(loaded: Loaded, targets: Sequence[str], options: VerifyOptions, look: Look) -> OneRun:
    """The run, with the results of those targets that it leaves incomplete."""
    first = under_faults(loaded, (DEPLOY,), targets[0])
    asked = [one for one in rows_of(first.setup) if one.ref in targets]
    intents = tuple(map(lasting_intent, asked))
    everybody = replace(first, scenario=replace(first.scenario, intents=intents))
    plan = plan_input(everybody, options)
    path = _run_to_rest(plan, look)
    model = RepresentativeModel(plan)
    (start,) = model.initial()
    last = model.judge(path.last._replace(observed=start.observed))
    broken = [number for number, (_, is_bad, _) in enumerate(last.observed) if is_bad]
    judged = path._replace(states=(start, *path.states[1:-1], last))
    traces = make_traces(model, broken, (), judged, look) if broken else {}
    stuck = {}
    for number, trace in traces.items():
        result = intent_result(everybody, plan, number, Verdict.VIOLATED, Statistics(states=len(path.states)))
        stuck[asked[number].ref] = replace(result, **trace)
    return OneRun(everybody, plan, stuck)


def _run_to_rest(plan: Plan, look: Look) -> NamedPath:
    """A run to a state in which nothing has to happen; no monitor is asked on the way."""
    model = RememberingModel(replace(plan, monitors=()))
    (start,) = model.initial()
    states, steps = [start], list[Transition]()
    for step in _steps_to_rest(model, states):
        look()
        steps.append(step)
        states.append(step.target)
    return NamedPath(tuple(states), tuple(steps))


def _steps_to_rest(model: RememberingModel, states: Sequence[State]) -> Iterator[Transition]:
    """What is taken next in the last of the states, until nothing is; whoever had something last is asked first."""
    actors, last = model.plan.actors, 0
    for _ in range(MOST_STEPS):
        here = states[-1]
        turns = ((last + number) % len(actors) for number in range(len(actors)))
        offered = ((turn, step) for turn in turns for step in model.steps_of(actors[turn], here))
        found = next(((turn, step) for turn, step in offered if step.role == Role.URGENT), None)
        if found is not None:
            last = found[0]
            yield found[1]
            continue
        patient = next((step for step in model.steps(here) if step.role in (Role.OPTIONAL, Role.TIME)), None)
        if patient is None:
            return
        yield patient
    raise LimitReached(f"one deployment of everybody does not come to rest in {MOST_STEPS:,} steps")
