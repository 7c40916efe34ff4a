"""`kubeproof replay`: re-executes the counterexamples of a saved result, step by step."""

from __future__ import annotations

import json
from typing import Any

from kubeproof.errors import ManifestError
from kubeproof.manifests.load import load_texts
from kubeproof.manifests.loaded import Loaded
from kubeproof.manifests.printable import printable
from kubeproof.model.individual import IndividualModel, State
from kubeproof.model.representatives import RepresentativeModel
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.replayer import Recorded, ReplayMismatch, replay
from kubeproof.verify.resize import Size, resized
from kubeproof.verify.result import VIOLATED, ReplayReport, TraceStep
from kubeproof.verify.run import plan_of
from kubeproof.verify.traces import told, with_letters

MOST = 10_000  # nodes of a kind or pods of a workload in a counterexample


def replay_file(path: str, intent: str | None = None, controllers: tuple[str, ...] = ()) -> ReplayReport:
    """Replays the first counterexample in a saved JSON result, or that of the intent named.

    Own controllers must be named again: a result file never decides which code runs.
    """
    document = _read(path)
    result = _chosen(document, path, intent)
    try:
        return _replayed(document, result, VerifyOptions(controllers=controllers))
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise _unusable(path, f"not a result of kubeproof verify -o json ({error})") from error


def _read(path: str) -> dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            document = json.load(file)
    except OSError as error:
        raise _unusable(path, f"cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise _unusable(path, f"not JSON: {error}") from error
    if not isinstance(document, dict) or not isinstance(document.get("results"), list):
        raise _unusable(path, "holds no results")
    return document


def _unusable(path: str, problem: str) -> ManifestError:
    return ManifestError(problem, file=printable(path), line=1, remedy="Give a file written by verify -o json=FILE")


def _chosen(document: dict[str, Any], path: str, intent: str | None) -> dict[str, Any]:
    traced = [r for r in document["results"] if isinstance(r, dict) and r.get("trace") is not None]
    if intent is not None:
        traced = [r for r in traced if intent in (r.get("intent"), r.get("id"))]
    if not traced:
        which = f" for {intent}" if intent else ""
        raise _unusable(path, f"holds no counterexample{which}; only violated intents have one")
    return traced[0]


def _replayed(document: dict[str, Any], result: dict[str, Any], options: VerifyOptions) -> ReplayReport:
    files = [(str(file["name"]), str(file["text"])) for file in document["input"]["files"]]
    loaded = _at_size(load_texts(files), result.get("size") or {})
    plan = plan_of(loaded, options)
    number = [monitor.intent.name for monitor in plan.monitors].index(result["intent"])
    model = RepresentativeModel(plan)
    recorded: list[Recorded] = [(str(s["actor"]), _tuples(s["code"])) for s in result["trace"]]
    deployed = int(result.get("deployed_steps", 0))
    if loaded.scenario.start.mode == "deployed":
        before, start = _deployed(model, recorded[:deployed])
    elif deployed:
        raise ReplayMismatch("E700 the trace deploys first, and its Scenario does not")
    else:
        before, (start,) = (), model.initial()
    loop_start = result.get("loop_start")
    relative = None if loop_start is None else int(loop_start) - deployed
    run = replay(model, start, recorded[deployed:], loop_start=relative, monitor_number=number)
    steps = told(model, run.states, run.steps, before[-1].time_s if before else 0)
    temporal = plan.monitors[number].temporal
    first: tuple[str, ...] = ()
    if temporal is not None:
        first, steps = with_letters(model, run.states, run.steps, temporal, steps)
    return ReplayReport(
        scenario=loaded.scenario.name,
        intent=str(result["intent"]),
        steps=(*before, *steps),
        loop_start=loop_start,
        verdict=VIOLATED,
        detail="every step was possible when it was taken, and the run breaks the intent",
        final=tuple(str(line) for line in result.get("final", ())),
        deployed_steps=deployed,
        propositions=temporal.names if temporal is not None else (),
        begins_with=first,
    )


def _at_size(loaded: Loaded, numbers: dict[str, Any]) -> Loaded:
    """The input at the size of the counterexample; as it is, unless a sweep chose one."""
    scale = loaded.scenario.scale
    if not numbers or scale is None:
        return loaded
    if any(int(number) > MOST for number in numbers.values()):
        raise ValueError("a size that no sweep has")
    nodes = tuple((node.like, int(numbers[node.like])) for node in scale.nodes)
    pods = tuple((workload.target, int(numbers[workload.target])) for workload in scale.workloads)
    return resized(loaded, scale, Size(nodes, pods))


def _deployed(model: IndividualModel, recorded: list[Recorded]) -> tuple[tuple[TraceStep, ...], State]:
    """The deploying steps in words, none if the start is stable as it is, and the state in which the run begins."""
    deploying = RepresentativeModel(model.plan.deploying())
    (state,) = deploying.initial()
    states, steps = [state], []
    for actor, concrete in recorded:
        step = next((s for s in deploying.steps(state) if (s.controller, s.concrete) == (actor, concrete)), None)
        if step is None:
            raise ReplayMismatch(f"E700 a deploying step is not possible: {actor} cannot do {concrete}")
        steps.append(step)
        state = step.target
        states.append(state)
    if not deploying.is_stable(state):
        raise ReplayMismatch("E700 the deployed state is not stable")
    return told(model, states, steps, 0), model.restarted(state)


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value
