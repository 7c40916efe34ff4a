"""Random Deployments and ReplicaSets, biased to corner cases."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.conformance.corpus import Case

REPLICAS = (0, 1, 1, 2, 2, 3, 3, 4, 5, 5, 6, 7, 8, 10, 10, 13, 20)
PERCENTAGES = (0, 1, 10, 20, 24, 25, 25, 26, 33, 34, 50, 66, 75, 99, 100)
NUMBERS = (0, 0, 1, 1, 2, 3, 5)
DEADLINES_S = (30, 60, 600, 2**31 - 1)
HISTORY = (0, 1, 2, 10)


def amount(random: Random) -> int | str:
    """A number of pods, or a percentage."""
    return f"{random.choice(PERCENTAGES)}%" if random.random() < 0.5 else random.choice(NUMBERS)


def strategy(random: Random) -> dict[str, Any]:
    """A strategy that the API server admits; often without some fields."""
    kind = random.random()
    if kind < 0.12:
        return {"type": "Recreate"}
    if kind < 0.2:
        return {}
    surge, unavailable = amount(random), amount(random)
    if surge in (0, "0%") and unavailable in (0, "0%"):
        surge = 1
    both = {"maxSurge": surge, "maxUnavailable": unavailable}
    if kind < 0.3:
        missing = random.choice(sorted(both))
        both = {key: value for key, value in both.items() if key != missing}
        if set(both.values()) <= {0, "0%"}:
            both = {}
    return {"type": "RollingUpdate", "rollingUpdate": both}


def deployment(random: Random, template: int) -> dict[str, Any]:
    """A Deployment with the pod template of that number."""
    spec: dict[str, Any] = {"replicas": random.choice(REPLICAS), "strategy": strategy(random)}
    if random.random() < 0.05:
        spec["paused"] = True
    if random.random() < 0.6:
        spec["progressDeadlineSeconds"] = random.choice(DEADLINES_S)
    if random.random() < 0.5:
        spec["revisionHistoryLimit"] = random.choice(HISTORY)
    spec["selector"] = {"matchLabels": {"app": "a"}}
    containers = [{"name": "c", "image": f"v{template}"}]
    spec["template"] = {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers}}
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}, "spec": spec}


def rollout(random: Random) -> Case:
    """A rollout from its beginning or middle to its end, with surprises on the way."""
    count = random.choice((0, 0, 1, 1, 1, 2, 2, 3))
    template = random.choice((max(0, count - 1), count, random.randint(0, count)))
    owner = deployment(random, template)
    sets = [_kept_set(random, index, owner["spec"]["replicas"], count) for index in range(count)]
    known = count + 1
    steps = []
    for _ in range(random.randint(2, 8)):
        step, known = _step(random, known)
        steps.append(step)
    reported = sum(old["exists"] for old in sets)
    return {"deployment": owner, "sets": sets, "reported": reported, "steps": steps, "settle": True}


def _kept_set(random: Random, index: int, replicas: int, count: int) -> dict[str, Any]:
    """A ReplicaSet as its controller would have left it: full if alone, otherwise in the middle of a rollout."""
    size = replicas if count == 1 else random.randint(0, replicas)
    exists = size if random.random() < 0.7 else random.randint(0, size + 2)
    available = exists if random.random() < 0.6 else random.randint(0, exists)
    most = replicas + random.choice((0, 1, 1, 2, 3))
    told = {"template": index, "replicas": size, "exists": exists, "available": available}
    return {**told, "desired": str(replicas), "max": str(most)}


def _step(random: Random, known: int) -> tuple[dict[str, Any], int]:
    """What happens before a sync, and how many pod templates there were so far."""
    step: dict[str, Any] = {}
    chance = random.random()
    if chance < 0.2:
        step["replicas"] = random.choice(REPLICAS)
    elif chance < 0.38:
        step["template"] = known if random.random() < 0.6 else random.randrange(known)
        known = max(known, step["template"] + 1)
    elif chance < 0.44:
        step["paused"] = random.random() < 0.4
    elif chance < 0.5:
        step["strategy"] = strategy(random)
    if random.random() < 0.5:
        step["wait"] = random.choice((1, 10, 29, 30, 31, 60, 61, 600, 601))
    if random.random() < 0.85:
        step["moves"] = [_move(random) for _ in range(random.choice((1, 2, 3)))]
    return step, known


def _move(random: Random) -> list[int]:
    """Pods created or deleted at most, pods that become available, whether terminating pods are gone."""
    created = random.choice((0, 1, 2, 99, 99))
    return [created, random.choice((-3, -1, 0, 1, 2, 99, 99)), int(random.random() < 0.5)]


def proportional(random: Random) -> Case:
    """One sync of a Deployment with several ReplicaSets whose annotations tell of other sizes, or of none."""
    count = random.choice((1, 2, 2, 2, 3, 3, 4, 5))
    owner = deployment(random, random.choice((count - 1, count - 1, count, random.randrange(count))))
    if random.random() < 0.15:
        owner["spec"]["paused"] = True
    replicas = random.choice((owner["spec"]["replicas"], *REPLICAS))
    most = replicas + random.choice((0, 1, 2, 3, 5))
    sets = [_stale_set(random, index, replicas, most) for index in range(count)]
    reported = sum(old["exists"] for old in sets) if random.random() < 0.7 else random.randint(0, 30)
    return {"deployment": owner, "sets": sets, "reported": reported, "steps": [{}], "settle": False}


def _stale_set(random: Random, index: int, replicas: int, most: int) -> dict[str, Any]:
    size = random.choice((0, 1, 1, 2, 3, 3, 5, 7, 10, replicas, random.randint(0, 40)))
    exists = random.choice((size, size, random.randint(0, size)))
    available = random.choice((exists, random.randint(0, exists)))
    told = {"template": index, "replicas": size, "exists": exists, "available": available}
    return {**told, "desired": _stale(random, replicas), "max": _stale(random, most)}


def _stale(random: Random, value: int) -> str:
    """An annotation: mostly the common value, sometimes another one, none, or one that somebody spoilt."""
    chance = random.random()
    if chance < 0.75:
        return str(value)
    if chance < 0.88:
        return str(max(1, value + random.choice((-2, -1, 1, 2, 10))))
    return random.choice(("", "", "", "many", "1.5", "0"))


def scale_down(random: Random) -> Case:
    """Pods of a ReplicaSet of which some must go; few or many, alike or not."""
    at, edge = _edge(random)
    many = random.random() < 0.1
    count = random.randint(13, 20) if many else random.choice((2, 2, 3, 3, 4, 5, 6, 8, 12))
    seconds = _distinct(random, 2 * count) if many else [*_near(random, edge), *_near(random, edge)]
    make = random.choice((_like_all, _like_all, _as_modelled, _as_modelled, _any_pod, _any_pod))
    uids = random.sample(range(100, 1000), count)
    pods = [make(random, str(uid)) for uid in uids]
    for index, pod in enumerate(pods):
        pod["created"] = seconds[2 * index] if many else random.choice(seconds)
        pod["since"] = seconds[2 * index + 1] if many else random.choice(seconds)
    others = [_any_pod(random, f"o{index}") for index in range(random.choice((0, 0, 0, 2, 5)))]
    for pod in others:
        pod["ending"] = random.random() < 0.3
        pod["phase"] = random.choice(("Pending", "Running", "Running", "Failed", "Succeeded"))
    victims = random.choice((count - 1, count - 1, count - 1, random.randint(1, count - 1)))
    if random.random() < 0.03:
        victims = count  # nothing is ordered
    return {"pods": pods, "others": others, "count": victims, "at": at}


def _edge(random: Random) -> tuple[int, int]:
    """Nanoseconds of a moment, and seconds before it such that the age is a power of two or next to one."""
    while True:
        age = 2 ** random.randint(30, 57) + random.choice((-1, 0, 1))
        seconds, at = divmod(age, 10**9)
        if 10**6 < at < 10**9 - 10**6:  # an age of less than a millisecond makes upstream divide by zero
            return at, seconds


def _near(random: Random, seconds: int) -> list[int | None]:
    """Moments around the edge and far from it; one may be in the future, or not set."""
    near: list[int | None] = [
        seconds,
        seconds,
        seconds - 1,
        seconds + 1,
        seconds // 2,
        2 * seconds,
        random.randint(0, 10**6),
    ]
    return random.choice(([*near, None], [*near, -random.randint(1, 9)], near, near[:3]))


def _distinct(random: Random, count: int) -> list[int | None]:
    return list(random.sample(range(10**6), count))


def _like_all(random: Random, uid: str) -> dict[str, Any]:
    """A pod that only its age and UID tell apart."""
    return {"uid": uid, "node": "a", "phase": "Running", "ready": True}


def _as_modelled(random: Random, uid: str) -> dict[str, Any]:
    """A pod such as the model has: no cost, and ready only if it runs."""
    phase, ready = random.choice((("Pending", False), ("Running", False), ("Running", True), ("Running", True)))
    pod = {"uid": uid, "node": _node(random), "phase": phase, "ready": ready}
    return {**pod, **_restarts(random)}


def _any_pod(random: Random, uid: str) -> dict[str, Any]:
    phase = random.choice(("Pending", "Running", "Running", "Running", "Running", "Unknown"))
    pod: dict[str, Any] = {"uid": uid, "node": _node(random), "phase": phase, "ready": random.random() < 0.6}
    if random.random() < 0.25:
        pod["cost"] = str(random.choice((-(2**31), -1, 0, 1, 100, 2**31 - 1)))
    return {**pod, **_restarts(random)}


def _node(random: Random) -> str:
    return random.choice(("", "a", "a", "a", "b", "b", "c"))


def _restarts(random: Random) -> dict[str, list[int]]:
    """Restarts of containers, of sidecars, and of init containers that run once."""
    restarts: dict[str, list[int]] = {}
    if random.random() < 0.4:
        restarts["restarts"] = [random.choice((0, 0, 1, 2, 10)) for _ in range(random.choice((1, 2)))]
    if random.random() < 0.2:
        restarts["sidecars"] = [random.choice((0, 1, 3))]
    if random.random() < 0.2:
        restarts["inits"] = [random.choice((0, 5))]
    return restarts
