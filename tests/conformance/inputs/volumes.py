"""Random scheduling decisions about pods with persistent volumes."""

from __future__ import annotations

from random import Random

from tests.conformance.inputs import cluster, placement
from tests.conformance.inputs.cluster import Object
from tests.conformance.inputs.placement import HOSTNAME, ZONE, chance

CLAIMS = ("d0", "d1", "d2")
CLASSES = ("waits", "local", "once")
SIZES = ("1Gi", "2Gi", "5Gi")
MODES = ("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany")


def volumes(random: Random) -> Object:
    """One pod to be scheduled that mounts one or two claims."""
    features = ("labels", "gaps", "taints") if chance(random, 30) else ("gaps",)
    case: Object = {"nodes": cluster.nodes(random, 2, 5, features), "pods": []}
    case["volumes"] = [_volume(random, f"v{number}") for number in range(random.randint(0, 4))]
    case["claims"] = [_claim(random, name) for name in random.sample(CLAIMS, random.choice((1, 2, 3, 3)))]
    case["classes"] = [_class(random, name) for name in CLASSES]
    _bind(random, case)
    case["pod"] = _mounting(random, "p")
    for number in range(random.randint(0, 2)):
        bound = _mounting(random, f"e{number}")
        bound["spec"]["nodeName"] = random.choice(case["nodes"])["metadata"]["name"]
        case["pods"].append(bound)
    return case


def _mounting(random: Random, name: str) -> Object:
    pod = cluster.pod(random, name, ())
    claims = random.sample((*CLAIMS, CLAIMS[0]), random.choice((1, 1, 2)))
    pod["spec"]["volumes"] = [
        {"name": f"m{number}", "persistentVolumeClaim": {"claimName": claim}} for number, claim in enumerate(claims)
    ]
    return pod


def _modes(random: Random) -> list[str]:
    if chance(random, 12):
        return ["ReadWriteOncePod"]
    return random.sample(MODES, random.choice((1, 1, 2)))


def _volume(random: Random, name: str) -> Object:
    metadata: Object = {"name": name}
    if chance(random, 20):
        key = random.choice((ZONE, ZONE, "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/region"))
        metadata["labels"] = {key: random.choice(("a", "b", "a__b"))}
    elif chance(random, 30):
        metadata["labels"] = {"disk": random.choice(("ssd", "hdd"))}
    spec: Object = {"capacity": {"storage": random.choice(SIZES)}, "accessModes": _modes(random)}
    if chance(random, 80):
        spec["storageClassName"] = random.choice(("waits", "local", "local", "once"))
    if chance(random, 70):
        spec["nodeAffinity"] = {"required": {"nodeSelectorTerms": _terms(random)}}
    if chance(random, 10):
        spec["volumeMode"] = "Block"
    return {"metadata": metadata, "spec": spec}


def _terms(random: Random) -> list[Object]:
    return [
        {
            "matchExpressions": [
                random.choice((_in(ZONE, random.choice("abc")), _in(HOSTNAME, random.choice(("n1", "n2")))))
            ]
        }
        for _ in range(random.choice((1, 1, 2)))
    ]


def _in(key: str, value: str) -> Object:
    return {"key": key, "operator": "In", "values": [value]}


def _claim(random: Random, name: str) -> Object:
    spec: Object = {
        "accessModes": _modes(random),
        "resources": {"requests": {"storage": random.choice(SIZES)}},
        "storageClassName": random.choice(("waits", "waits", "local", "local", "local", "once", "")),
    }
    if chance(random, 10):
        spec["volumeMode"] = "Block"
    if chance(random, 15):
        spec["selector"] = {"matchLabels": {"disk": random.choice(("ssd", "hdd"))}}
    return {"metadata": {"name": name, "namespace": "s", "uid": name}, "spec": spec}


def _class(random: Random, name: str) -> Object:
    provisioner = "kubernetes.io/no-provisioner" if name == "local" else "nfs.example.com"
    mode = "Immediate" if name == "once" else "WaitForFirstConsumer"
    found: Object = {"metadata": {"name": name}, "provisioner": provisioner, "volumeBindingMode": mode}
    if name == "waits" and chance(random, 50):
        values = random.sample(placement.ZONES, random.choice((1, 2)))
        found["allowedTopologies"] = [{"matchLabelExpressions": [{"key": ZONE, "values": values}]}]
    return found


def _bind(random: Random, case: Object) -> None:
    """Binds some claims to volumes, and keeps some volumes for claims that are not bound yet, or not there."""
    free = list(case["volumes"])
    random.shuffle(free)
    for claim in case["claims"]:
        if not free or chance(random, 45):
            continue
        volume, name = free.pop(), claim["metadata"]["name"]
        volume["spec"]["claimRef"] = {"namespace": "s", "name": name, "uid": name}
        if chance(random, 70):
            claim["spec"]["volumeName"] = volume["metadata"]["name"]
    if free and chance(random, 15):
        free[0]["spec"]["claimRef"] = {"namespace": "t", "name": "other", "uid": "other"}
