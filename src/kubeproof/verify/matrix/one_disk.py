"""Rollouts whose new pod waits for the disk that the old one keeps on another node.

Attaching is not modelled (`kubeproof.verify.findings.attaching`), so that no such rollout is proved to succeed. That it
fails can be shown: it is searched with new pods that never become ready
(`kubeproof.manifests.scenarios.matrix_columns.adds_to_its_disk`), and a run is one of a cluster if these wait for the
disk all the while: an old pod runs on one node, as it did before, and no new one is there.
"""

from __future__ import annotations

from dataclasses import replace

from kubeproof.cluster.loops.inaction import Field
from kubeproof.cluster.objects import Setup, family, workload_number
from kubeproof.cluster.state import Health, Phase
from kubeproof.model.by_name.state import State
from kubeproof.verify.counterexamples.lift import NamedPath
from kubeproof.verify.explained import Explanation, Remedy, tell_changes
from kubeproof.verify.result import IntentResult

NOT_SHOWN = (
    "no run is shown in which its new pod comes to another node than the one that has its disk, and attaching is not "
    "modelled: strategy {type: Recreate} avoids that"
)


def with_disk_given_up(setup: Setup, result: IntentResult, ref: str) -> IntentResult:
    """The result with what lets the old pod give its disk up before a new one is created."""
    claims = ", ".join(setup.workloads[workload_number(setup, ref)].template.claims)
    says = f"write strategy: {{type: Recreate}} into {ref}, so that its old pod gives up {claims} before a new one"
    change = Remedy(says, (Field(ref, "spec.strategy"),))
    told = result.explanation or Explanation("", (), "")
    sentence = tell_changes((change,))
    return replace(result, remedy=sentence, explanation=replace(told, change=sentence, changes=(change,)))


def is_disk_elsewhere(setup: Setup, ref: str, path: NamedPath) -> bool:
    """True if in every state the disk is on a node that runs the old pod, and no new pod is on that node."""
    old, *new = family(setup, workload_number(setup, ref))
    return all(_is_elsewhere(state, old, frozenset(new)) for state in (*path.states, path.last))


def _is_elsewhere(state: State, old: int, new: frozenset[int]) -> bool:
    keeping = [node for node in state.nodes if any(pod.workload == old for pod in node.pods)]
    if len(keeping) != 1 or keeping[0].health != Health.UP:
        return False
    pods = [pod for pod in keeping[0].pods if pod.workload == old]
    is_kept = all(pod.phase == Phase.READY for pod in pods)
    return is_kept and not any(pod.workload in new for pod in keeping[0].pods)
