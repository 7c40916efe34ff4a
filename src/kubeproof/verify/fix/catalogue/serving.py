"""How pods start, stop and get traffic: probes, hooks, Services."""

from __future__ import annotations

from collections.abc import Iterator

from kubeproof.cluster.loops.actors import ActorKind
from kubeproof.manifests.editing.operations import put
from kubeproof.manifests.editing.written import Written
from kubeproof.verify.fix.around import Around, containers_of, pod_path
from kubeproof.verify.fix.edits import TRADE, TUNE, Edit, edit

PROBE, HOOK, TRAFFIC = "readinessProbe", "preStop", "trafficPolicy"


def propose_serving(one: Written, _: Around) -> Iterator[Edit]:
    """Pods that are ready later, serve on for longer, or get traffic from everywhere."""
    if one.kind == "Service" and one.at("spec", "externalTrafficPolicy") == "Local":
        yield edit(
            TRAFFIC, one, "externalTrafficPolicy Cluster", put("spec", "externalTrafficPolicy", value="Cluster"),
            cost=TUNE, gives_up="the address of the client, and a hop less", answers=("maxLoadSkew",),
        )  # fmt: skip
    if one.kind in ("Deployment", "StatefulSet", "DaemonSet"):
        yield from _probes(one)
        yield from _hooks(one)


def _probes(one: Written) -> Iterator[Edit]:
    for path, container in containers_of(one):
        probe = container.get("readinessProbe")
        now = (probe or {}).get("initialDelaySeconds", 0)
        for seconds in (30, 60, 90) if probe else ():
            if seconds > now:
                yield edit(
                    PROBE, one, f"readinessProbe of {container.get('name')}: initialDelaySeconds {seconds}",
                    put(*path, "readinessProbe", "initialDelaySeconds", value=seconds), cost=TUNE + seconds // 30,
                    gives_up="pods take longer to be ready", answers=(ActorKind.HPA, "readiness"),
                )  # fmt: skip


def _hooks(one: Written) -> Iterator[Edit]:
    grace = one.at(*pod_path(one), "terminationGracePeriodSeconds")
    for seconds in (5, 10, 15, 30):
        writes = [
            put(*path, "lifecycle", "preStop", "sleep", "seconds", value=seconds)
            for path, container in containers_of(one)
            if not (container.get("lifecycle") or {}).get("preStop") and container.get("ports")
        ]
        if seconds >= (30 if grace is None else grace):
            writes.append(put(*pod_path(one), "terminationGracePeriodSeconds", value=2 * seconds))
        if any("preStop" in operation.path for operation in writes):
            yield edit(
                HOOK, one, f"a preStop hook that sleeps for {seconds} s", *writes,
                cost=TUNE + TRADE // 4 + seconds // 5, gives_up=f"pods take {seconds} s longer to end",
                answers=("noTrafficToTerminating", ActorKind.ENDPOINTS),
            )  # fmt: skip
