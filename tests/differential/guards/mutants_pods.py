"""The guards of proofs that follow one pod, each with the cluster that misses it."""

from __future__ import annotations

from tests.differential.guards.switching import Guard

_RULES = "verify/proofs/crowd/pod_by_pod.py"
_JOBS = "verify/proofs/crowd/job_by_job.py"
_PROVING = "verify/proofs/crowd/proving.py"
_BY_CONDITION: tuple[tuple[str, str, str, str], ...] = (  # module, function, guard, witness
    (_PROVING, "_at_rest", "is_so", "pods fill the only node"),
    (_PROVING, "_find_subjects", "n in certain if n in begins else what in held", "nobody begins a rollout"),
    (_PROVING, "_answer", "question.settles", "an autoscaler never rests"),
    ("model/reductions/loosened.py", "_bindings", "not self._is_certain(seen, every)", "pods fill the only node"),
    (
        _RULES,
        "may_be_resized",
        "any((footprint_of(event).writes & RESIZED for event in events))",
        "the second pod comes when the node is closed",
    ),
    (
        _RULES,
        "may_be_resized",
        "any(_working(part.loaded))",
        "an autoscaler wants a second pod when the node is closed",
    ),
    (
        _RULES,
        "find_least",
        "sizes += [size for event in part.loaded.scenario.events for size in event.sizes]",
        "a workload is scaled down",
    ),
    (
        _RULES,
        "find_least",
        "sizes += [one.min_replicas for one in _working(part.loaded)]",
        "an autoscaler scales down",
    ),
    (_RULES, "_live_alone", "workload.rules.has_replica_set", "an ordinal has no volume"),
    (_RULES, "_live_alone", "workload.replicas > 0", "nobody ever wants a pod"),
    (_RULES, "_live_alone", "scenario.start.placement", "a pod is placed where no other comes"),
    (_RULES, "_live_alone", "scenario.start.pods", "a pod runs where no other comes"),
    (
        _RULES,
        "_live_alone",
        "any((is_drain(event) for event in scenario.events)) and _has_budget(setup)",
        "a budget keeps a pod on the only node",
    ),
    (_RULES, "_live_alone", "not looks_at_pods(setup, workload)", "two pods keep apart on one node"),
    (_RULES, "_live_alone", "all(map(_is_known, scenario.events))", "new pods are never ready"),
    (_RULES, "_live_alone", "_rolls_out_simply(loaded, workload)", "a new pod waits for one that never ends"),
    (
        _RULES,
        "looks_at_pods",
        "any((constraint.hard for constraint in template.spread))",
        "two pods are spread over a closed node",
    ),
    (
        _RULES,
        "looks_at_pods",
        "any((constraint.hard for constraint in defaults))",
        "two pods are spread by default",
    ),
    (_RULES, "looks_at_pods", "template.pod_affinity.required", "the second pod has to be near the first"),
    (_RULES, "looks_at_pods", "template.pod_anti_affinity.required", "two pods keep apart on one node"),
    (_RULES, "looks_at_pods", "template.claims", "two pods want one claim"),
    (
        _RULES,
        "looks_at_pods",
        "any((container.host_ports for container in containers))",
        "two pods want the same port",
    ),
    (_RULES, "_is_known", "told.is_moment", "new pods are never ready"),
    (_JOBS, "_live_alone", "declared.cron.policy == REPLACE", "a Job makes way for the next"),
    (_RULES, "_rolls_out_simply", "workload.strategy.rolling", "a new pod waits for one that never ends"),
    (
        _RULES,
        "_rolls_out_simply",
        "any((footprint_of(event).writes & Writes.SIZES for event in events))",
        "a Deployment is resized in the middle of a rollout",
    ),
    (
        _RULES,
        "_rolls_out_simply",
        "any(_working(loaded))",
        "an autoscaler resizes in the middle of a rollout",
    ),
    (
        "intents/kind.py",
        "counts_in_the_end",
        "intent.when in (STABLE, EVENTUALLY, EVENTUALLY_ALWAYS)",
        "a pod is missing for a while",
    ),
    ("intents/kind.py", "counts_in_the_end", "is_enough", "more pods are asked for than wanted"),
    (
        "verify/strategies/parts.py",
        "_find_lone_pods",
        "lives",
        "one workload rests, another never does",
    ),
    (
        "verify/strategies/pod_by_pod.py",
        "attempt",
        "all((n in one.intents for part, one in found if n in part.intents))",
        "no node admits a pod",
    ),
)
POD_BY_POD = tuple((Guard(module, function, text), witness, True) for module, function, text, witness in _BY_CONDITION)
