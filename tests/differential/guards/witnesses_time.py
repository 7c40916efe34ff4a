"""Clusters in which it matters which pod starts first."""

from __future__ import annotations

from kubeproof.cluster.objects import HOSTNAME, Settings
from kubeproof.events.declarations import Scale
from kubeproof.manifests.loaded import Loaded
from tests.differential.guards.clusters import Witness, cluster, node, of, workload


def scaled_while_starting() -> Loaded:
    """Of three pods that start the one that is alone on its node goes, if it is the last to be ready."""
    web = workload("web", 3)
    scale = Scale(name="scale", target=web.ref, replicas=(2,))
    asked = of("maxSkew", web, topology_key=HOSTNAME, skew=1, when="stable")
    slow = Settings(startup_s=(1, 5), monitor_period_s=0)
    return cluster((node("n1", 2000), node("n2", 2000)), web, asked, events=(scale,), settings=slow)


WITNESSES: dict[str, Witness] = {"pods are deleted while some start": scaled_while_starting}
