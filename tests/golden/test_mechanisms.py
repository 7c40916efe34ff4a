"""Of every failure case and incident: the words and numbers without which its mechanism cannot be understood.

They must stand in the three sentences at the top of the violation, for a reader who knows nothing but the report.
"""

from __future__ import annotations

import pytest

from kubeproof.cases.library import load_case
from kubeproof.manifests.editing.written import list_written
from kubeproof.manifests.load import load
from kubeproof.verdicts import Verdict
from kubeproof.verify.executors.inprocess import InProcess
from kubeproof.verify.matrix.options import MatrixEffort, MatrixOptions
from kubeproof.verify.matrix.run import run_matrix
from kubeproof.verify.options import VerifyOptions
from kubeproof.verify.result import VerifyResult
from kubeproof.verify.run import verify_intents
from tests.golden.incidents import PAIRS

CASES = {  # case: what the text has to say
    "c1": ("6 pods, at most 5", "autoscaler web", "target 50 %", "ceil(1.68 x 4) = 7", "limited to maxReplicas 6"),
    "c2": ("next-release", "spec.replicas of Deployment/shop/web to 1", "only once per sync", "minReplicas 3"),
    "c3": (
        "web-6",
        "PodTopologySpread",
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "3 there + 1 new - 2",
    ),
    "c4": ("node node-1 panics", "3 of Deployment/shop/web 21000m each", "63000m of 64000m", "bears 95%"),
    "c5": ("spec.nodeName", "RemoveDuplicates", "target although it is full", "NodeResourcesFit refuses node-1"),
    "c6": ("node-maintenance", "1 ready, at least 2", "all 2 pod(s)", "no PodDisruptionBudget"),
    "c7": ("kubelet of node-1 rejects", "maintenance=planned:NoExecute is not tolerated", "nodeName", "without end"),
    "c8": ("spot-2=1, spot-1=2, on-demand-1=3", "constraint by constraint", "2 x NodeAffinity 100 against 80"),
    "c9": ("1 domain", "node-1: 2, node-2: 0", "ImageLocality 100 against 0", "2 x PodTopologySpread 66 against 100"),
    "c10": ("no traffic", "cpu 5 % of request, target 50 %", "ceil(0.1 x 3) = 1", "minReplicas 1"),
    "c11": ("6000m asked for, 5000m of 8000m free", "NodeAffinity refuses node-3", "priority is 0"),
    "c12": ("the pod's priority is 500", "(priority 100)", "make way for Deployment/metrics/tenant"),
    "c13": ("told to stop", "for 7 s", "no preStop hook", "sleep for 7 s"),
    "c14": ("3 times the traffic", "node-1 has 1, node-2 has 3", "externalTrafficPolicy: Local"),
    "c15": ("zone-outage", "VolumeBinding refuses b-1", "cluster autoscaler adds no node", "zone-a (0 of at most 2)"),
    "c16": ("panics", "recovers", "1200m each", "4400m of 4000m", "bears 95%"),
}
INCIDENTS = {
    "01": (
        "rollout-1",
        "3 that must stay available",
        "maxUnavailable 25% of 3 is 0",
        "4 of at most 4",
        "InterPodAffinity",
    ),
    "05": ("2 ready, at least 4", "zone-a: 1 there + 1 new - 0", "maxSkew 1", "500m asked for, 250m of 250m free"),
    "14": ("n3 is underutilized: cpu 25 %", "n1 is a destination", "rather than on n1", "2 x PodTopologySpread 100"),
    "24": ("6 pods, at most 2", "memory 170 % of request, target 80 %", "ceil(2.125 x 6) = 13", "maxReplicas 6"),
    "29": ("drain does not end", "needs 3 healthy pods and has 3", "minAvailable 67% of 3 rounds up to 3"),
    "33": (
        "2 ready, at least 3",
        "is not asked",
        "needs 3 of 4",
        "a rollout deletes pods without it",
        "minAvailable 2",
    ),
    "36": ("1 of 2 nodes", "300m asked for, 200m of 2000m free", "priority is 0, and no pod has a lower one"),
    "37": ("1 ready, at least 2", "creates no new registry-0", "kubelet of n1 is silent", "out-of-service"),
    "40": ("7 Pod objects, at most 6", "nodeName", "cpu 1000m asked for, 0m of 2000m free"),
    "42": ("scan-1", "1 pod(s) there that reject it, of latency", "the pods that reject it be preferred"),
    "46": (
        "2 that must stay available",
        "maxUnavailable 25% of 2 is 0",
        "3 of at most 3",
        "800Mi asked for, 224Mi of 1Gi free",
    ),
    "48": ("drain-1", "1 ready, at least 2", "maxUnavailable 50% of 3 rounds up to 2", "needs 1 of 3"),
}


def first_explanation(result: VerifyResult) -> str:
    """The sentences of the first violation."""
    one = next(one for one in result.results if one.verdict == Verdict.VIOLATED)
    assert one.explanation is not None
    return " ".join((one.explanation.happens, *one.explanation.why, one.explanation.change))


def list_general_advice(result: VerifyResult) -> list[str]:
    """What to change, where it names nothing of the input."""
    names = {ref for file in list_written(result.inputs) for ref in (file.ref, file.name)}
    told = (one.explanation.change for one in result.results if one.explanation is not None)
    return [change for change in told if not any(name in change for name in names if len(name) > 1)]


def list_misplaced(result: VerifyResult) -> list[str]:
    """Cited lines that are not about the field that is to be changed, nor about what would hold it."""
    texts = dict(result.inputs)
    found = []
    for change in (c for one in result.results if one.explanation is not None for c in one.explanation.changes):
        keys = {part.partition("[")[0] for field in change.fields for part in field.path.split(".")} | {"apiVersion"}
        for place in change.places:
            line = texts[place.file].split("\n")[place.line - 1]
            found += [] if any(f"{key}:" in line for key in keys) or line.lstrip().startswith("- ") else [line]
    return found


def require_advice_of_its_own(result: VerifyResult) -> None:
    """Raises unless all advice names something of the input, and each line that is cited is about it."""
    assert (list_general_advice(result), list_misplaced(result)) == ([], [])


@pytest.mark.parametrize("name", CASES)
def test_the_mechanism_of_a_shipped_case_is_visible(name):
    result = verify_intents(load(load_case(name)))
    told = first_explanation(result)

    assert [words for words in CASES[name] if words not in told] == [], told
    require_advice_of_its_own(result)


def test_advice_of_the_matrix_is_derived_from_its_runs():
    loaded = load("examples/09-microservices")
    chosen = MatrixOptions(faults=("rollout", "drain"), pairs=False, executor=InProcess())
    result = run_matrix(loaded, VerifyOptions(), chosen, effort=MatrixEffort(first_states=2_000, later_states=1))

    assert sum(one.explanation is not None for one in result.results) >= 3
    require_advice_of_its_own(result)


@pytest.mark.skipif(not PAIRS.is_dir(), reason="the incident pairs are not here")
@pytest.mark.parametrize("name", INCIDENTS)
def test_the_mechanism_of_an_incident_is_visible(name):
    (folder,) = PAIRS.glob(f"{name}-*")
    result = verify_intents(load((str(folder / "violating"), str(folder / "scenario.yaml"))))
    told = first_explanation(result)

    assert [words for words in INCIDENTS[name] if words not in told] == [], told
    require_advice_of_its_own(result)
