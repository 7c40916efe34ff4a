"""A counterexample as the plain values that the page's player reads: short lists, since a run may be long."""

from __future__ import annotations

from collections.abc import Mapping

from kubeproof.cluster.objects import Source
from kubeproof.verify.result import Trace
from kubeproof.verify.words.numbers import Autoscaling, Numbers, ScoreTable
from kubeproof.verify.words.pictures import Change, Film, PodPicture, Scene

Plain = dict[str, object]


def run_values(trace: Trace, film: Film | str) -> Plain:
    """The run; `film` is why it is not drawn where it is a text."""
    drawn = None if isinstance(film, str) else film
    actors = list(dict.fromkeys(step.actor for step in trace.steps))
    number_of = {actor: number for number, actor in enumerate(actors)}
    behind = (None,) * len(trace.steps) if drawn is None else drawn.numbers
    known: dict[Numbers, int] = {}
    steps = [
        [
            number_of[step.actor],
            step.time_s,
            step.action,
            step.object,
            list(map(str, step.changes)),
            step.why,
            -1 if numbers is None else known.setdefault(numbers, len(known)),
            step.holds,
        ]
        for step, numbers in zip(trace.steps, behind, strict=True)
    ]
    return {
        "actors": actors,
        "steps": steps,
        "numbers": [_numbers(numbers) for numbers in known],
        "loopStart": trace.loop_start,
        "certainty": trace.loop_certainty,
        "deployed": trace.deployed_steps,
        "final": trace.final,
        "idle": [[one.step, one.actor, one.says, one.rule] for one in trace.inaction],
        "end": [] if drawn is None else [_numbers(numbers) for numbers in drawn.end],
        "propositions": trace.propositions,
        "beginsWith": trace.begins_with,
        "film": None if drawn is None else _film(drawn),
        "notDrawn": film if isinstance(film, str) else "",
    }


def _place(source: Source) -> str:
    """`file:line`, empty if the object comes from nowhere."""
    return str(source) if source.line else ""


def _film(film: Film) -> Plain:
    return {
        "keys": film.keys,
        "nodes": [
            [n.name, n.domains, n.cpu_milli, n.memory_bytes, n.pods, n.taints, _place(n.source)] for n in film.nodes
        ],
        "workloads": [[w.ref, w.name, w.family, w.cpu_milli, w.memory_bytes, _place(w.source)] for w in film.workloads],
        "first": _scene(film.first),
        "changes": [_change(change) for change in film.changes],
    }


def _scene(scene: Scene) -> list[object]:
    return [scene.nodes, scene.workloads, _pods(scene.pods)]


def _pods(pods: Mapping[str, PodPicture]) -> list[object]:
    return [[name, pod] for name, pod in pods.items()]


def _change(change: Change) -> list[object]:
    return [change.nodes, change.workloads, change.pods]


def _numbers(numbers: Numbers) -> Plain:
    return _scores(numbers) if isinstance(numbers, ScoreTable) else _scaling(numbers)


def _scores(table: ScoreTable) -> Plain:
    rows = [
        {
            "node": row.node,
            "refused": row.refused_by,
            "reason": row.reason,
            "scores": row.scores,
            "total": row.total,
            "best": row.is_best,
        }
        for row in table.rows
    ]
    return {
        "kind": "scores",
        "pod": table.pod,
        "node": table.node,
        "plugins": table.plugins,
        "rows": rows,
        "omitted": table.omitted,
    }


def _scaling(sync: Autoscaling) -> Plain:
    metrics = [
        {
            "name": metric.name,
            "measured": metric.measured,
            "target": metric.target,
            "percent": metric.is_percent,
            "ratio": metric.ratio,
            "pods": metric.pods,
            "proposal": metric.proposal,
            "words": metric.words,
        }
        for metric in sync.metrics
    ]
    return {
        "kind": "scaling",
        "autoscaler": sync.autoscaler,
        "current": sync.current,
        "replicas": sync.replicas,
        "least": sync.least,
        "most": sync.most,
        "metrics": metrics,
        "reasons": sync.reasons,
    }
