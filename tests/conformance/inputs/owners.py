"""Random StatefulSets, DaemonSets and Jobs with the pods that they find, biased to corner cases."""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import Any

from tests.conformance.corpus import Case

PHASES = ("Running", "Running", "Running", "Running", "Pending", "Succeeded", "Failed")
AMOUNTS = (1, 1, 2, 3, "10%", "25%", "50%", "100%")


def statefulset(random: Random) -> Case:
    """A StatefulSet with an update under way, and some of its pods."""
    replicas = random.choice((0, 1, 2, 3, 3, 4, 5))
    policy = random.choice(("OrderedReady", "OrderedReady", "Parallel"))
    spec: dict[str, Any] = {"replicas": replicas, "podManagementPolicy": policy, "serviceName": "s"}
    spec |= {"selector": {"matchLabels": {"app": "a"}}, "template": _template("v0" if random.random() < 0.25 else "v1")}
    spec["updateStrategy"] = _statefulset_strategy(random, replicas)
    spec["revisionHistoryLimit"] = 10
    if random.random() < 0.3:
        spec["minReadySeconds"] = 30
    first = random.choice((0, 0, 0, 0, 1, 3))
    if first:
        spec["ordinals"] = {"start": first}
    is_calm = random.random() < 0.35  # all there and running, so that only the update has work
    chances = [0.2] * min(first, 1) + [0.8] * replicas + [0.3, 0.3]
    if is_calm:
        chances = [0.0] * min(first, 1) + [1.0] * replicas + [0.1, 0.1]
    ordinals = [number for number, chance in enumerate(chances, first - min(first, 1)) if random.random() < chance]
    make = _healthy_pod if is_calm else _pod
    pods = [{"name": f"x-{number}", **make(random)} for number in ordinals]
    return {"statefulset": _object("apps/v1", "StatefulSet", spec), "pods": pods}


def _statefulset_strategy(random: Random, replicas: int) -> dict[str, Any]:
    if random.random() < 0.2:
        return {"type": "OnDelete"}
    rolling: dict[str, Any] = {"partition": random.choice((0, 0, 0, 1, 2, replicas))}
    if random.random() < 0.4:
        rolling["maxUnavailable"] = random.choice(AMOUNTS)
    return {"type": "RollingUpdate", "rollingUpdate": rolling}


def daemonset(random: Random) -> Case:
    """A DaemonSet, nodes of which some are tainted, cordoned or not selected, and its pods."""
    nodes = [_node(random, f"n{number}") for number in range(random.choice((1, 2, 3, 3, 4)))]
    template = _template("v1")
    if random.random() < 0.3:
        template["spec"]["nodeSelector"] = {"pool": "a"}
    if random.random() < 0.4:
        template["spec"]["tolerations"] = [{"key": random.choice("tu"), "operator": "Exists"}]
    spec: dict[str, Any] = {"selector": {"matchLabels": {"app": "a"}}, "template": template, "revisionHistoryLimit": 10}
    spec["updateStrategy"] = _daemonset_strategy(random)
    if random.random() < 0.3:
        spec["minReadySeconds"] = 30
    is_calm = random.random() < 0.4  # one living pod everywhere, so that only the update has work
    names = [n["metadata"]["name"] for n in nodes for _ in range(1 if is_calm else random.choice((0, 1, 1, 1, 2)))]
    pods = [{**(_healthy_pod(random) if is_calm else _pod(random)), "node": name} for name in names]
    if is_calm and spec["updateStrategy"].get("rollingUpdate", {}).get("maxSurge") and random.random() < 0.5:
        old = random.choice(pods)
        old |= {"updated": False, "ready": True}  # and beside it one that has just come
        pods.insert(pods.index(old) + 1, {**old, "updated": True, "ready": False})
    for first, second in pairwise(pods):
        if first["node"] == second["node"] and first["phase"] == "Failed":
            second["phase"] = "Running"  # of two failed pods on one node any could go first; the other has to wait
    for number, pod in enumerate(pods):
        pod |= {"name": f"p{number}", "created": pod["created"] + number}  # of pods of one age any could go
    return {"daemonset": _object("apps/v1", "DaemonSet", spec), "nodes": nodes, "pods": pods}


def _daemonset_strategy(random: Random) -> dict[str, Any]:
    """One that often leaves a choice of nodes open: upstream goes through them in random order."""
    kind = random.random()
    if kind < 0.3:
        return {"type": "OnDelete"}
    amount = random.choice(("100%", "100%", *AMOUNTS))
    if kind < 0.65:
        return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": amount, "maxSurge": 0}}
    return {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 0, "maxSurge": amount}}


def job(random: Random) -> Case:
    """A Job, and its pods: running, finished, or ending."""
    completions = random.choice((None, 1, 2, 3, 5))
    spec: dict[str, Any] = {"parallelism": random.choice((0, 1, 2, 3, 5)), "backoffLimit": random.choice((0, 1, 2, 6))}
    template = _template("v1")
    template["spec"]["restartPolicy"] = random.choice(("Never", "OnFailure"))
    spec["template"] = template
    is_indexed = completions is not None and random.random() < 0.3
    if completions is not None:
        spec["completions"] = completions
    if is_indexed:
        spec["completionMode"] = "Indexed"
    if random.random() < 0.1:
        spec["suspend"] = True
    if random.random() < 0.1:
        spec["activeDeadlineSeconds"] = random.choice((60, 3599, 3600, 3601))
    pods = [_job_pod(random, number, completions if is_indexed else None) for number in range(random.randint(0, 5))]
    return {"job": _object("batch/v1", "Job", spec), "pods": pods}


def later_job(random: Random) -> Case:
    """A Job with a history: what earlier syncs have counted and decided, and any replacement policy."""
    case = dict(job(random))
    spec = case["job"]["spec"]
    if random.random() < 0.4:
        spec["podReplacementPolicy"] = random.choice(("Failed", "Failed", "TerminatingOrFailed"))
    status: dict[str, Any] = {"failed": random.choice((0, 0, 1, 2)), "succeeded": random.choice((0, 0, 1, 2))}
    if spec.get("completionMode") == "Indexed":
        done = [n for n in range(spec["completions"]) if random.random() < 0.3]
        status |= {"succeeded": len(done), "completedIndexes": ",".join(map(str, done))}
    if random.random() < 0.2:
        status["conditions"] = [_condition(*random.choice((FAILING, FAILING, SUCCEEDING)))]
    for pod in case["pods"]:
        if (pod.get("ending") or pod["phase"] in ("Succeeded", "Failed")) and random.random() < 0.5:
            pod["counted"] = True
    case["job"]["status"] = status
    return case


FAILING = ("FailureTarget", "DeadlineExceeded")
SUCCEEDING = ("SuccessCriteriaMet", "CompletionsReached")


def _condition(kind: str, reason: str) -> dict[str, Any]:
    return {"type": kind, "status": "True", "reason": reason}


def _job_pod(random: Random, number: int, indexes: int | None) -> dict[str, Any]:
    pod = {**_pod(random), "name": f"p{number}", "phase": random.choice(PHASES[2:])}
    pod |= {"created": pod["created"] + number, "restarts": random.choice((0, 0, 0, 1, 3, 7))}
    if indexes is not None:
        pod["index"] = str(random.randrange(indexes + 1))
    return pod


def _pod(random: Random) -> dict[str, Any]:
    pod: dict[str, Any] = {"phase": random.choice(PHASES), "created": random.choice((10, 100, 1000))}
    pod |= {"updated": random.random() < 0.5, "since": random.choice((0, 5, 29, 30, 31, 90, 900))}
    pod["ready"] = pod["phase"] == "Running" and random.random() < 0.75
    if random.random() < 0.12:
        pod["ending"] = True
    return pod


def _healthy_pod(random: Random) -> dict[str, Any]:
    """A pod that runs and stays, mostly ready."""
    pod = {**_pod(random), "phase": "Running", "ready": random.random() < 0.8}
    pod.pop("ending", None)
    return pod


def _node(random: Random, name: str) -> dict[str, Any]:
    node: dict[str, Any] = {"metadata": {"name": name}, "spec": {}}
    if random.random() < 0.6:
        node["metadata"]["labels"] = {"pool": random.choice("ab")}
    if random.random() < 0.4:
        effect = random.choice(("NoSchedule", "NoExecute", "PreferNoSchedule"))
        key = random.choice(("t", "u", "node.kubernetes.io/unreachable", "node.kubernetes.io/memory-pressure"))
        node["spec"]["taints"] = [{"key": key, "effect": effect}]
    if random.random() < 0.15:
        node["spec"]["unschedulable"] = True
    return node


def _template(image: str) -> dict[str, Any]:
    containers = [{"name": "c", "image": image}]
    return {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}}


def _object(version: str, kind: str, spec: dict[str, Any]) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, "spec": spec}
