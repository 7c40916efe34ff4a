"""What the driver does with a case: its events in the order of Kubeproof's counterexample, and when to stop."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kubeproof.cases.library import load_case
from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.load import load
from kubeproof.verify.result import IntentResult, TraceStep
from kubeproof.verify.run import verify
from tests.conformance.controlplane.vocabulary import said_by_model

CASES = ("c1", "c2", "c3", "c5", "c6", "c7", "c8")
ROUNDS = 4  # of a loop, before the run is stopped
STARTUP_S, ENDING_S, MAINTENANCE_S = 2, 1, 60  # within what the model allows: 1 to 5, 0 to 30, 60 to 600 s
KUBELETS_LOOK_S = {"": 0, "slow-kubelets": 2, "late-kubelets": 60}  # at new pods; late: after the end of the run
DESCHEDULING_S = 30  # the cases say 5 min
HPA_SYNCS_S = 33  # two periods and a bit: an autoscaler that did nothing for so long wants nothing
CALM_S = 5
LIMIT_S = 400


@cache
def counterexample(case: str) -> IntentResult:
    """The first violated intent of a case, with its trace."""
    result = verify(load(load_case(case)))
    return next(one for one in result.results if one.trace is not None)


def scenario_of(case: str) -> dict[str, Any]:
    """The Scenario as it is written."""
    path = next(path for path in load_case(case) if path.endswith("scenario.yaml"))
    document: dict[str, Any] = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    spec: dict[str, Any] = document["spec"]
    return spec


def plan_of(case: str, root: Path, variant: str = "") -> dict[str, Any]:
    """What `conformance/controlplane` reads; `root` is the root of the repository.

    `variant` is one of KUBELETS_LOOK_S: the later kubelets look at a pod, the likelier others come first.
    """
    found, spec = counterexample(case), scenario_of(case)
    kinds = {Path(path).stem for path in load_case(case)}
    folder = Path(load_case(case)[0]).parent
    return {
        "case": case.upper(),
        "manifests": str(folder.resolve().relative_to(root)),
        "target": found.target,
        "start_deployed": spec["start"] != "empty",
        "usage": list(_usage(spec)),
        "events": list(_events(found, spec)),
        "stop": _stop(found, spec),
        "descheduler_interval_s": DESCHEDULING_S,
        "startup_s": STARTUP_S,
        "ending_s": ENDING_S,
        "admission_s": KUBELETS_LOOK_S[variant],
        "maintenance_s": MAINTENANCE_S,
        "quiet_s": HPA_SYNCS_S if "autoscaler" in kinds else CALM_S,
        "limit_s": LIMIT_S,
        "manager_flags": [],
        "shortened": {"descheduling interval": f"5m to {DESCHEDULING_S}s"} if "descheduler" in kinds else {},
    }


def _usage(spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """CPU by age of the pod, as the first usage event has it from the start on."""
    for entry in spec.get("events", ()):
        if pattern := entry.get("cpuPattern"):
            for phase in pattern["phases"]:
                yield {"percent": _percent(phase["usage"]), "for_s": float(str(phase.get("for", "0")).rstrip("s"))}
        if change := entry.get("cpuChange"):
            yield {"percent": _percent(change.get("initial", change["levels"][0])), "for_s": 0.0}


def _percent(text: str) -> int:
    return int(text.rstrip("%"))


def _events(found: IntentResult, spec: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The events of the counterexample, in its order."""
    declared = {entry.get("name", f"{key}-{n}"): (key, entry) for n, key, entry in _declared(spec)}
    homes: dict[str, str] = {}
    for step in steps_of(found):
        if step.actor.kind == ActorKind.EVENT:
            key, entry = declared[step.actor.object]
            yield _event(key, entry, step, homes)
        moved(step, homes)


def _declared(spec: dict[str, Any]) -> Iterator[tuple[int, str, dict[str, Any]]]:
    for number, item in enumerate(spec.get("events", ()), start=1):
        for key, entry in item.items():
            yield number, key, entry


def _event(key: str, entry: dict[str, Any], step: TraceStep, homes: dict[str, str]) -> dict[str, Any]:
    if key == "maintenance":
        node = step.object.removeprefix("Node/")
        return {"kind": "maintenance", "node": node, "pods": list(homes.values()).count(node)}
    if key == "cpuChange":
        level = next(one[2][0] for one in step.code if one[0] == "remember")  # type: ignore[index]
        return {"kind": "cpu", "percent": _percent(entry["levels"][level])}
    if key == "apply":
        return {"kind": "apply", "manifest": entry["manifest"]}
    raise ValueError(f"the driver knows no {key}")


def steps_of(found: IntentResult) -> tuple[TraceStep, ...]:
    """The steps of a counterexample."""
    return found.trace.steps if found.trace is not None else ()


def moved(step: TraceStep, homes: dict[str, str]) -> None:
    """Brings the nodes of pods up to date with a step."""
    for said in said_by_model(step.actor, step.code, homes):
        if said.word.verb in ("bind", "create") and said.word.where:
            homes[said.pod] = said.word.where
        elif said.word.verb in ("evict", "delete"):
            homes.pop(said.pod, None)


def _stop(found: IntentResult, spec: dict[str, Any]) -> dict[str, Any]:
    """When a real run has shown the violation: the intent broken, or enough rounds of the loop."""
    fields = next(fields for entry in spec["intents"] for key, fields in entry.items() if key == found.key)
    if found.key == "maxReplicas":
        return {"kind": "pods-above", "count": fields["count"]}
    if found.key == "minReplicas":
        return {"kind": "pods-below", "count": fields["count"]}
    if found.key == "minReady":
        return {"kind": "ready-below", "count": fields["count"]}
    if found.key == "schedulable":
        return {"kind": "unschedulable", "count": 1}
    if found.key == "noEvictionLoop":
        return {"kind": "evictions", "count": ROUNDS}
    return {"kind": "creations", "count": ROUNDS * found.pods}
