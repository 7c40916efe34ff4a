"""What a pod says about where it wants to be, as the API has it: selectors, affinity, spread, tolerations."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from random import Random
from typing import Any

Part = dict[str, Any]
Vocabulary = Mapping[str, Sequence[str]]

HOSTNAME = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
ZONES = ("a", "a", "b", "b", "c")
NAMESPACES = ("s", "s", "t")
NAMESPACE_LABELS: Vocabulary = {"team": ("x", "y")}
POD_LABELS: Vocabulary = {"app": ("web", "db"), "v": ("1", "2")}
# Not all of these are numbers to Gt and Lt: "1_0" never, the last one is too large.
NODE_LABELS: Vocabulary = {
    "disk": ("ssd", "hdd", ""),
    "rank": ("1", "5", "10", "007", "1_0", "x", "99999999999999999999"),
}
BOUNDS = ("0", "1", "5", "7", "010", "9223372036854775807")
TOPOLOGIES = (*(HOSTNAME, ZONE) * 4, "disk", "rank")
WEIGHTS = (1, 2, 3, 29, 57, 100)  # 29 and 57 of 100 are shares that floating point cuts off one lower
NODE_NAMES = ("n1", "n2", "n3", "nx")
EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
TAINTS = (
    "k",
    "l",
    "node.kubernetes.io/not-ready",
    "node.kubernetes.io/unreachable",
    "node.kubernetes.io/unschedulable",
)


def chance(random: Random, percent: int) -> bool:
    """True so often in a hundred."""
    return random.randrange(100) < percent


def labels(random: Random, vocabulary: Vocabulary, *, most: int) -> dict[str, str]:
    """Some labels, perhaps none."""
    keys = random.sample(sorted(vocabulary), random.randint(0, min(most, len(vocabulary))))
    return {key: random.choice(vocabulary[key]) for key in sorted(keys)}


def pod_labels(random: Random) -> dict[str, str]:
    """Labels of a pod: mostly those that selectors ask for."""
    if chance(random, 40):
        return labels(random, POD_LABELS, most=2)
    return {"app": "web", **labels(random, {"v": POD_LABELS["v"]}, most=1)}


def placement(random: Random, features: Collection[str]) -> Part:
    """The fields of a pod spec that these features stand for; each may still be absent."""
    found: Part = {}
    if "taints" in features and chance(random, 60):
        found["tolerations"] = tolerations(random)
    if "selector" in features and chance(random, 50):
        found["nodeSelector"] = labels(random, {**NODE_LABELS, ZONE: ("a", "b")}, most=2)
    affinity = _affinity(random, features)
    if affinity:
        found["affinity"] = affinity
    if "spread" in features and chance(random, 75):
        found["topologySpreadConstraints"] = spread(random, features)
    return found


# Taints and tolerations


def taints(random: Random) -> list[Part]:
    """One to three taints; key and effect together are unique."""
    found: dict[tuple[str, str], Part] = {}
    for _ in range(random.randint(1, 3)):
        taint = {"key": random.choice(TAINTS), "effect": random.choice(EFFECTS)}
        if chance(random, 40):
            taint["value"] = random.choice("vw")
        found.setdefault((taint["key"], taint["effect"]), taint)
    return list(found.values())


def tolerations(random: Random) -> list[Part]:
    """Tolerations of all forms: by value, by key, of everything, of one effect, for a time."""
    return [_toleration(random) for _ in range(random.randint(1, 3))]


def _toleration(random: Random) -> Part:
    found: Part = {}
    exists = chance(random, 50)
    if not exists or chance(random, 85):
        found["key"] = random.choice(TAINTS)
    if exists:
        found["operator"] = "Exists"
    elif chance(random, 60):
        found["value"] = random.choice("vw")
        found |= {"operator": "Equal"} if chance(random, 50) else {}
    if chance(random, 60):
        found["effect"] = random.choice(EFFECTS)
    if found.get("effect") == "NoExecute" and chance(random, 30):
        found["tolerationSeconds"] = random.choice((0, 60))
    return found


# Node affinity


def node_terms(random: Random, *, pinned: bool, most: int = 2) -> list[Part]:
    """Node selector terms, which may be empty (and match nothing)."""
    return [_node_term(random, pinned=pinned) for _ in range(random.randint(1, most))]


def _node_term(random: Random, *, pinned: bool) -> Part:
    term: Part = {}
    if not pinned or chance(random, 40):
        term["matchExpressions"] = [_node_requirement(random) for _ in range(random.choice((1, 1, 2)))]
    if pinned:
        term["matchFields"] = [_node_field(random) for _ in range(random.choice((1, 1, 2)))]
    return {} if chance(random, 5) else term


def _node_requirement(random: Random) -> Part:
    key = random.choice(("disk", "rank", "rank", ZONE))
    if key == "rank" and chance(random, 60):
        return {"key": key, "operator": random.choice(("Gt", "Lt")), "values": [random.choice(BOUNDS)]}
    return _requirement(random, key, {**NODE_LABELS, ZONE: ("a", "b", "c")}[key])


def _node_field(random: Random) -> Part:
    operator = random.choice(("In", "In", "NotIn"))
    return {"key": "metadata.name", "operator": operator, "values": [random.choice(NODE_NAMES)]}


def _requirement(random: Random, key: str, values: Sequence[str]) -> Part:
    operator = random.choice(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    if operator in ("Exists", "DoesNotExist"):
        return {"key": key, "operator": operator}
    return {"key": key, "operator": operator, "values": random.sample(values, random.randint(1, 2))}


def _affinity(random: Random, features: Collection[str]) -> Part:
    found: Part = {}
    node: Part = {}
    if "affinity" in features or "pinned" in features:
        pinned = "pinned" in features and chance(random, 70)
        if chance(random, 50):
            terms = node_terms(random, pinned=pinned)
            node["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
        if chance(random, 60):
            preferred = [
                {"weight": random.choice(WEIGHTS), "preference": term}
                for term in node_terms(random, pinned=pinned and chance(random, 50), most=3)
            ]
            node["preferredDuringSchedulingIgnoredDuringExecution"] = preferred
    if node:
        found["nodeAffinity"] = node
    for feature, field in (("near", "podAffinity"), ("apart", "podAntiAffinity")):
        if feature in features and chance(random, 65):
            found[field] = _pod_affinity(random, features)
    return found


# Pods near and apart, and spread


def selector(random: Random) -> Part | None:
    """A label selector over the pods' labels: None (absent), empty, by labels or by expressions."""
    draw = random.randrange(100)
    if draw < 5:
        return None
    if draw < 10:
        return {}
    if draw < 50:
        return {"matchLabels": {"app": "web"}}
    if draw < 80:
        return {"matchLabels": labels(random, POD_LABELS, most=2) or {"app": "db"}}
    key = random.choice(sorted(POD_LABELS))
    return {"matchExpressions": [_requirement(random, key, POD_LABELS[key])]}


def _pod_affinity(random: Random, features: Collection[str]) -> Part:
    found: Part = {}
    if chance(random, 45):
        terms = [_pod_term(random, features) for _ in range(random.choice((1, 1, 2)))]
        found["requiredDuringSchedulingIgnoredDuringExecution"] = terms
    if chance(random, 60):
        found["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": random.choice(WEIGHTS), "podAffinityTerm": _pod_term(random, features)}
            for _ in range(random.choice((1, 1, 2)))
        ]
    return found


def _pod_term(random: Random, features: Collection[str]) -> Part:
    term: Part = {"topologyKey": random.choice(TOPOLOGIES)}
    chosen = selector(random)
    if chosen is not None:
        term["labelSelector"] = chosen
        term |= _label_keys(random, chosen, 15, ("matchLabelKeys", "mismatchLabelKeys"))
    if "namespaces" in features:
        if chance(random, 30):
            term["namespaces"] = [random.choice(("s", "t"))]
        if chance(random, 30):
            term["namespaceSelector"] = {"matchLabels": labels(random, NAMESPACE_LABELS, most=1)}
    return term


def _label_keys(random: Random, chosen: Part, percent: int, fields: Sequence[str]) -> Part:
    """matchLabelKeys or the like, of a key that the selector does not use."""
    used = {*chosen.get("matchLabels", {}), *(one["key"] for one in chosen.get("matchExpressions", []))}
    free = sorted({"app", "v", "none"} - used)
    return {random.choice(fields): [random.choice(free)]} if chance(random, percent) else {}


def spread(random: Random, features: Collection[str]) -> list[Part]:
    """One to three constraints; topology key and whenUnsatisfiable together are unique."""
    found: dict[tuple[str, str], Part] = {}
    for _ in range(random.choice((1, 1, 2, 3))):
        constraint = _constraint(random, features)
        found.setdefault((constraint["topologyKey"], constraint["whenUnsatisfiable"]), constraint)
    return list(found.values())


def _constraint(random: Random, features: Collection[str]) -> Part:
    hard = chance(random, 60)
    found: Part = {
        "maxSkew": random.choice((1, 1, 1, 2, 3)),
        "topologyKey": random.choice(TOPOLOGIES),
        "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway",
    }
    chosen = selector(random)
    if chosen is not None:
        found["labelSelector"] = chosen
        found |= _label_keys(random, chosen, 20, ("matchLabelKeys",))
    if hard and chance(random, 35):
        found["minDomains"] = random.randint(1, 4)
    for field in ("nodeAffinityPolicy", "nodeTaintsPolicy"):
        if "policies" in features and chance(random, 50):
            found[field] = random.choice(("Honor", "Ignore"))
    return found
