"""The guards of proofs of workloads whatever others do, each with the cluster that misses it."""

from __future__ import annotations

from tests.differential.guards.switching import Guard

CROWD: tuple[tuple[Guard, str, bool], ...] = (  # guard, witness, whether looked at in parts
    (
        Guard("verify/proofs/crowd/conditions.py", "find_own_obstacle", "_may_preempt_each_other(part.loaded.setup)"),
        "a pod of higher priority takes the port",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "has_rules_beside_room",
            "any((container.host_ports for container in workload.template.containers))",
        ),
        "a pod of higher priority takes the port",
        True,
    ),
    (
        Guard("verify/proofs/crowd/conditions.py", "_may_loop_at_once", "template.node_name is not None"),
        "a pod is refused without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((_may_loop_at_once(workload, events) for workload in setup.workloads))",
        ),
        "a drained node evicts a pod without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((_is_evicted(workload, node) for workload in setup.workloads for node in setup.nodes))",
        ),
        "pods end without end",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_obstacle",
            "any((profile.disabled & RULES for profile in setup.profiles))",
        ),
        "a scheduler does not ask for labels",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((one.rules.counts_completions and one.job.deadline_s is not None for one in workloads))",
        ),
        "a Job ends before its pods",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((workload.template.node_name for workload in workloads))",
        ),
        "a pod is refused on the node that it names",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/conditions.py",
            "find_own_obstacle",
            "any((is_meant(quota, workload) for quota in loaded.setup.quotas for workload in workloads))",
        ),
        "a quota counts the pods of a part",
        True,
    ),
    (Guard("verify/proofs/crowd/room.py", "working", "(yield autoscaler)"), "an autoscaler resizes a part", True),
    (
        Guard("verify/proofs/crowd/room.py", "_is_above_usage", "metric.value >= DEFAULT_PERCENT"),
        "an autoscaler resizes a part",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_may_be_on", "workload.bound_to"),
        "a pod runs on a node that would refuse it",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_beside_daemons", "free[name] -= amount * count"),
        "daemon pods take room",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/room.py",
            "_most_wanted",
            "sizes += [n for event in events for n in event.sizes]",
        ),
        "a workload that grows takes room",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_crowd", "active += _most_surge(workload, size, events)"),
        "a rollout that is never complete takes room",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "flatten", "not _finds_room(setup, short)"),
        "a workload that grows takes room",
        True,
    ),
    (
        Guard("verify/proofs/crowd/swaying.py", "_find_slack", "slack += weight * ranges"),
        "pods are drawn to the empty node",
        True,
    ),
    (
        Guard("verify/proofs/crowd/swaying.py", "find_sway", "_counts_others(setup, members)"),
        "pods are spread from those of others",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/swaying.py",
            "_counts_others",
            "any((not _find_counted(setup, number) <= own for number in members))",
        ),
        "pods are spread from those of others",
        True,
    ),
    (
        Guard(
            "verify/proofs/crowd/swaying.py",
            "_counts_others",
            "any((some & own and (not some <= own) for some in related))",
        ),
        "pods are repelled by those of others",
        True,
    ),
    (
        Guard("verify/proofs/crowd/room.py", "_rests", "all(map(_is_above_usage, autoscaler.metrics))"),
        "an autoscaler resizes a part",
        True,
    ),
    (Guard("verify/proofs/crowd/resizing.py", "largest", "self._may_rise()"), "an autoscaler resizes a part", True),
    (
        Guard("verify/proofs/crowd/resizing.py", "_may_rise", "ratio > 1 and (not self._tolerance.covers(ratio))"),
        "an autoscaler resizes a part",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "_may_run_anywhere", "spread"),
        "pods are spread over a cordoned node",
        True,
    ),
    (
        Guard("verify/proofs/crowd/freeing.py", "flatten", "not all(map(_may_run_anywhere, setup.workloads))"),
        "pods are spread over a cordoned node",
        True,
    ),
)
